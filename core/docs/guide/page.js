"use strict";
// The list of pages is folded on a narrow screen, where it would stand before the text.
const pages = document.getElementById("pages");
const narrow = matchMedia("(max-width: 59.99rem)");
const fold = () => { pages.open = !narrow.matches; };
fold();
narrow.addEventListener("change", fold);

// Searching: every word must be there; a word in a heading counts more than one below it.
const find = document.getElementById("find");
const found = document.getElementById("found");
let places;
const read = () => places ??= fetch("/app/docs/search.json").then((r) => {
  if (!r.ok) throw new Error(r.statusText);
  return r.json();
}).then(({ places: all }) => all.map((p) => ({ ...p, head_: p.head.toLowerCase(), page_: p.page.toLowerCase(), text_: p.text.toLowerCase() })));

const weigh = (p, words) => {
  let sum = 0;
  for (const w of words) {
    const points = (p.head_.includes(w) ? 8 : 0) + (p.page_.includes(w) ? 4 : 0) + (p.text_.includes(w) ? 1 : 0);
    if (!points) return 0;
    sum += points;
  }
  return sum;
};

const show = async () => {
  const asked = find.value;
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return found.replaceChildren();
  let all;
  try {
    all = await read();
  } catch {
    places = undefined;
    found.textContent = "The guide cannot be searched at the moment.";
    return;
  }
  if (find.value !== asked) return;
  const hits = all.map((p) => [weigh(p, words), p]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).slice(0, 12);
  if (!hits.length) {
    found.textContent = "Nothing is found.";
    return;
  }
  const list = document.createElement("ul");
  for (const [, p] of hits) {
    const link = document.createElement("a");
    link.href = p.url;
    link.textContent = p.head === p.page ? p.page : p.page + ": " + p.head;
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
  }
  found.replaceChildren(list);
};
find.addEventListener("input", show);
