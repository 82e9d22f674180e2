// URL and URLSearchParams. The host reads URLs, by the standard.

class URL {
  #parts;
  #params;
  constructor(url, base) {
    this.#parts = host.url("parse", String(url), base === undefined ? "" : String(base));
    if (this.#parts === undefined) throw new TypeError(`Invalid URL: ${url}`);
  }
  static canParse(url, base) { return URL.parse(url, base) !== null; }
  static parse(url, base) {
    try {
      return new URL(url, base);
    } catch {
      return null;
    }
  }
  static #set(url, part, value) {
    url.#parts = host.url(part, url.#parts.href, String(value)) ?? url.#parts;
  }
  static {
    for (const part of ["protocol", "username", "password", "host", "hostname", "port", "pathname", "hash"]) {
      Object.defineProperty(URL.prototype, part, {
        get() { return this.#parts[part]; },
        set(value) { URL.#set(this, part, value); },
        enumerable: true, configurable: true,
      });
    }
  }
  get origin() { return this.#parts.origin; }
  get href() { return this.#parts.href; }
  set href(value) {
    this.#parts = new URL(value).#parts;
    this.#params?.[reread](this.search);
  }
  get search() { return this.#parts.search; }
  set search(value) {
    URL.#set(this, "search", value);
    this.#params?.[reread](this.search);
  }
  get searchParams() {
    return this.#params ??= new URLSearchParams(this.search)[attach]((text) => URL.#set(this, "search", text));
  }
  toString() { return this.href; }
  toJSON() { return this.href; }
}

const reread = Symbol("reread"), attach = Symbol("attach");

class URLSearchParams {
  #pairs = [];
  #changed = () => {};
  constructor(init = "") {
    if (typeof init === "object" && init !== null) {
      const entries = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
      for (const [name, value] of entries) this.#pairs.push([String(name), String(value)]);
    } else {
      this[reread](String(init));
    }
  }
  [attach](changed) {
    this.#changed = () => changed(this.toString());
    return this;
  }
  [reread](text) {
    this.#pairs = text.replace(/^\?/, "").split("&").filter((part) => part !== "").map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [formDecode(part), ""] : [formDecode(part.slice(0, at)), formDecode(part.slice(at + 1))];
    });
  }
  get size() { return this.#pairs.length; }
  append(name, value) {
    this.#pairs.push([String(name), String(value)]);
    this.#changed();
  }
  delete(name, value) {
    this.#pairs = this.#pairs.filter(([n, v]) => n !== String(name) || value !== undefined && v !== String(value));
    this.#changed();
  }
  get(name) { return this.#pairs.find(([n]) => n === String(name))?.[1] ?? null; }
  getAll(name) { return this.#pairs.filter(([n]) => n === String(name)).map(([, v]) => v); }
  has(name, value) { return this.#pairs.some(([n, v]) => n === String(name) && (value === undefined || v === String(value))); }
  set(name, value) {
    const at = this.#pairs.findIndex(([n]) => n === String(name));
    if (at < 0) {
      this.#pairs.push([String(name), String(value)]);
    } else {
      this.#pairs[at][1] = String(value);
      this.#pairs = this.#pairs.filter(([n], i) => n !== String(name) || i === at);
    }
    this.#changed();
  }
  sort() {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#changed();
  }
  forEach(fn, self) { for (const [name, value] of this) fn.call(self, value, name, this); }
  *entries() { for (const [name, value] of this.#pairs) yield [name, value]; }
  *keys() { for (const [name] of this.#pairs) yield name; }
  *values() { for (const [, value] of this.#pairs) yield value; }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return this.#pairs.map(([n, v]) => `${formEncode(n)}=${formEncode(v)}`).join("&"); }
}

// The encoding of HTML forms.

function formEncode(text) {
  return encodeURIComponent(text.toWellFormed()).replace(/%20/g, "+")
    .replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function formDecode(text) {
  text = text.replaceAll("+", " ");
  if (!text.includes("%")) return text;
  const bytes = [];
  for (let i = 0; i < text.length; i++) {
    const code = text[i] === "%" && /^[0-9a-f]{2}$/i.test(text.slice(i + 1, i + 3));
    if (code) {
      bytes.push(parseInt(text.slice(i + 1, i + 3), 16));
      i += 2;
    } else {
      const c = String.fromCodePoint(text.codePointAt(i));
      bytes.push(...host.encode(c));
      i += c.length - 1;
    }
  }
  return host.decode(Uint8Array.from(bytes), "");
}
