"use strict";
(() => {
  const list = document.getElementById("list"), key = document.getElementById("key"), find = document.getElementById("find");
  const csrf = document.querySelector("meta[name=csrf-token]").content;

  // What a description says comes from others. It is written as text and never as markup.
  function make(name, attributes, ...inside) {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes ?? {})) {
      if (k.startsWith("on")) e.addEventListener(k.slice(2), v); else if (v !== undefined && v !== false) e.setAttribute(k, v);
    }
    e.append(...inside.filter((x) => x !== undefined));
    return e;
  }

  const credentials = () => (key.value.trim() ? { Authorization: "token " + key.value.trim() } : {});

  // A value to begin with, of the schema of one.
  function example(schema, doc, depth = 0) {
    if (!schema || depth > 3) return null;
    if (schema.$ref) return example(doc.components.schemas[schema.$ref.split("/").pop()], doc, depth + 1);
    if ("const" in schema) return schema.const;
    if (Array.isArray(schema.enum)) return schema.enum.find((v) => v !== "") ?? schema.enum[0];
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
    if (type === "integer" || type === "number") return 0;
    if (type === "boolean") return false;
    if (type === "array") return [];
    if (type !== "object" && !schema.properties) return "";
    const about = schema["x-armature"];
    const wanted = about ? about.mandatory : schema.required ?? Object.keys(schema.properties ?? {});
    const value = {};
    for (const name of wanted) value[name] = example((schema.properties ?? {})[name], doc, depth + 1);
    return value;
  }

  // Samples hold a place for the key; the one that was typed stays in its field.
  const shell = (text) => "'" + text.replaceAll("'", "'\\''") + "'";
  const python = (v) =>
    v === null ? "None" : v === true ? "True" : v === false ? "False" : Array.isArray(v) ? "[" + v.map(python).join(", ") + "]"
      : typeof v === "object" ? "{" + Object.entries(v).map(([k, x]) => JSON.stringify(k) + ": " + python(x)).join(", ") + "}" : JSON.stringify(v);
  const samples = {
    curl: ({ verb, url, body }) => "curl " + (verb === "GET" ? "" : "-X " + verb + " ") + "-H 'Authorization: token API_KEY:API_SECRET' " +
      (body === undefined ? "" : "-H 'Content-Type: application/json' -d " + shell(JSON.stringify(body)) + " ") + shell(url),
    TypeScript: ({ verb, url, body }) => `const answer = await fetch(${JSON.stringify(url)}, {\n  method: "${verb}",\n  headers: { Authorization: "token API_KEY:API_SECRET"` +
      (body === undefined ? " },\n});" : `, "Content-Type": "application/json" },\n  body: JSON.stringify(${JSON.stringify(body)}),\n});`) +
      "\nif (!answer.ok) throw new Error((await answer.json()).message);\nconsole.log(await answer.json());",
    Python: ({ verb, url, body }) => `import requests\n\nanswer = requests.request("${verb}", ${JSON.stringify(url)},\n    headers={"Authorization": "token API_KEY:API_SECRET"}` +
      (body === undefined ? ")" : `,\n    json=${python(body)})`) + "\nanswer.raise_for_status()\nprint(answer.json())",
  };

  let ids = 0;
  function operation(doc, verb, path, op, shared) {
    const fields = [], box = make("div");
    for (const p of [...(shared ?? []), ...(op.parameters ?? [])]) {
      const input = make("input", { id: "f" + ++ids, autocomplete: "off", placeholder: p.schema?.type ?? "", oninput: show });
      fields.push({ ...p, input });
      box.append(make("label", { for: input.id }, p.name, make("small", null, (p.required ? " (needed) " : " ") + (p.description ?? ""))), input);
    }
    const schema = op.requestBody?.content?.["application/json"]?.schema;
    let body;
    if (schema) {
      body = make("textarea", { id: "f" + ++ids, spellcheck: "false", oninput: show });
      body.value = JSON.stringify(example(schema, doc) ?? {}, null, 2);
      box.append(make("label", { for: body.id }, "Body ", make("small", null, "JSON")), body);
      const known = fieldsOf(schema, doc);
      if (known) box.append(make("details", null, make("summary", null, "Fields"), make("div", null, make("pre", { tabindex: "0" }, known))));
    }
    const out = make("pre", { tabindex: "0", hidden: "" }), said = make("p", { role: "status" }), text = make("pre", { tabindex: "0" });
    let language = "curl";
    const choices = Object.keys(samples).map((name) => make("button", { type: "button", "aria-pressed": String(name === language), onclick: () => {
      language = name;
      for (const b of choices) b.setAttribute("aria-pressed", String(b.textContent === name));
      show();
    } }, name));
    function request() {
      let to = path;
      const query = new URLSearchParams();
      for (const f of fields) {
        if (f.in === "path") to = to.replace("{" + f.name + "}", encodeURIComponent(f.input.value || "NAME"));
        else if (f.input.value !== "") query.set(f.name, f.input.value);
      }
      return { verb, url: location.origin + to + (query.size ? "?" + query : ""), body: body && JSON.parse(body.value || "{}") };
    }
    function show() {
      try { text.textContent = samples[language](request()); } catch (e) { text.textContent = "The body is no JSON: " + e.message; }
    }
    async function send() {
      said.textContent = "";
      out.hidden = false;
      try {
        const r = request();
        if (fields.some((f) => f.in === "path" && ["", ".", ".."].includes(f.input.value))) throw new Error("the name is missing");
        const headers = { Accept: "application/json", ...credentials(), ...(csrf && !key.value ? { "X-Framework-CSRF-Token": csrf } : {}) };
        if (r.body !== undefined) headers["Content-Type"] = "application/json";
        const began = performance.now();
        const answer = await fetch(r.url, { method: verb, headers, body: r.body && JSON.stringify(r.body), credentials: key.value ? "omit" : "same-origin" });
        const got = await answer.text();
        said.textContent = `${answer.status} ${answer.statusText}, ${Math.round(performance.now() - began)} ms`;
        said.className = answer.ok ? "" : "bad";
        try { out.textContent = JSON.stringify(JSON.parse(got), null, 2); } catch { out.textContent = got.slice(0, 100000); }
      } catch (e) {
        said.textContent = "Not sent: " + e.message;
        said.className = "bad";
      }
    }
    box.append(make("button", { type: "button", onclick: send }, "Try it"), said, out, make("h3", null, "The same elsewhere"), ...choices, text);
    show();
    return box;
  }

  function fieldsOf(schema, doc) {
    const full = schema.$ref ? doc.components.schemas[schema.$ref.split("/").pop()] : schema;
    return Object.entries(full?.properties ?? {}).map(([name, f]) => {
      const type = f.enum ? f.enum.map((v) => JSON.stringify(v)).join(" | ") : [f.type ?? "any"].flat().join(" | ");
      return `${name}: ${type}${f.readOnly ? " (read only)" : ""}${f.description ? " - " + f.description : ""}`;
    }).join("\n");
  }

  function draw(doc) {
    const groups = new Map();
    for (const [path, item] of Object.entries(doc.paths)) {
      for (const verb of ["get", "post", "put", "delete"]) {
        const op = item[verb];
        if (!op) continue;
        const entry = make("details", { "data-text": (verb + " " + path + " " + (op.summary ?? "")).toLowerCase() }, make("summary", null, make("b", null, verb.toUpperCase()), " ", path, op.summary && op.summary !== path ? " - " + op.summary : ""));
        // The inside is made when somebody opens it: a site has hundreds.
        entry.addEventListener("toggle", () => {
          if (entry.open && entry.children.length === 1) entry.append(operation(doc, verb.toUpperCase(), path, op, item.parameters));
        });
        const name = (op.tags ?? ["other"])[0];
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push(entry);
      }
    }
    list.replaceChildren(...[...groups].map(([name, entries]) => make("section", null, make("h2", null, name), ...entries)));
    if (groups.size === 0) list.replaceChildren(make("p", null, "There is nothing that you may use."));
    filter();
  }

  function filter() {
    const words = find.value.toLowerCase().split(/\s+/);
    for (const section of list.querySelectorAll("section")) {
      let any = false;
      for (const e of section.querySelectorAll("details[data-text]")) any = !(e.hidden = !words.every((w) => e.dataset.text.includes(w))) || any;
      section.hidden = !any;
    }
  }

  let turn = 0;
  async function load() {
    const mine = ++turn;
    try {
      const answer = await fetch("/api/openapi.json", { headers: { Accept: "application/json", ...credentials() }, credentials: key.value ? "omit" : "same-origin" });
      const doc = await answer.json();
      if (mine !== turn) return; // the key has changed since
      if (!answer.ok) throw new Error(doc.message ?? answer.statusText);
      draw(doc);
    } catch (e) {
      if (mine === turn) list.replaceChildren(make("p", { class: "bad" }, "The description could not be read: " + e.message));
    }
  }
  find.addEventListener("input", filter);
  key.addEventListener("change", load);
  load();
})();
