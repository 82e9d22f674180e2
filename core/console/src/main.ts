import { mount } from "svelte";
import App from "./App.svelte";
import { language } from "./words/words.ts";
import "./tokens.css";

const target = document.getElementById("console");
if (target) {
  document.documentElement.lang = language;
  mount(App, { target });
}
