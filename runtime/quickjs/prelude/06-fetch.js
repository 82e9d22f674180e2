// A part of the Fetch API. What the plugin may reach is what its site grants.

class Headers {
  #fields = new Map();
  constructor(init) {
    if (init === undefined || init === null) return;
    const entries = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
    for (const [name, value] of entries) this.append(name, value);
  }
  append(name, value) {
    name = String(name).toLowerCase();
    const before = this.#fields.get(name);
    this.#fields.set(name, before === undefined ? String(value).trim() : `${before}, ${String(value).trim()}`);
  }
  set(name, value) { this.#fields.set(String(name).toLowerCase(), String(value).trim()); }
  get(name) { return this.#fields.get(String(name).toLowerCase()) ?? null; }
  has(name) { return this.#fields.has(String(name).toLowerCase()); }
  delete(name) { this.#fields.delete(String(name).toLowerCase()); }
  forEach(fn, self) { for (const [name, value] of this) fn.call(self, value, name, this); }
  *entries() { yield* [...this.#fields].sort((a, b) => (a[0] < b[0] ? -1 : 1)); }
  *keys() { for (const [name] of this.entries()) yield name; }
  *values() { for (const [, value] of this.entries()) yield value; }
  [Symbol.iterator]() { return this.entries(); }
}

class Response {
  #message;
  #used = false;
  constructor(body = null, init = {}) {
    const message = bodied({ body }, "Response");
    this.#message = message;
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? "";
    this.headers = new Headers(init.headers ?? message.headers);
    this.url = "";
    this.redirected = false;
    this.type = "basic";
  }
  static json(value, init = {}) {
    const headers = new Headers(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new Response(JSON.stringify(value), { ...init, headers });
  }
  // received makes the response to a request of what the host answers.
  static received(answer, url) {
    const r = new Response(null, { status: answer.status, headers: answer.headers });
    r.#message = answer;
    r.url = url;
    return r;
  }
  get ok() { return this.status >= 200 && this.status < 300; }
  get bodyUsed() { return this.#used; }
  #take() {
    if (this.#used) throw new TypeError("the body of this response has been read already");
    this.#used = true;
    return this.#message;
  }
  async text() { return textOf(this.#take()); }
  async json() { return JSON.parse(textOf(this.#take())); }
  async bytes() { return bytesOf(this.#take()); }
  async arrayBuffer() { return bytesOf(this.#take()).buffer; }
  clone() {
    const r = received({ ...this.#message, status: this.status, headers: this.headers }, this.url);
    r.statusText = this.statusText;
    return r;
  }
}

const received = Response.received;
delete Response.received;

class Request {
  constructor(input, init = {}) {
    const from = input instanceof Request ? input : {};
    this.url = input instanceof Request ? input.url : new URL(String(input)).href;
    this.method = String(init.method ?? from.method ?? "GET").toUpperCase();
    this.headers = new Headers(init.headers ?? from.headers);
    this.body = init.body ?? from.body ?? null;
    this.timeout = init.timeout ?? from.timeout; // milliseconds; not in the standard
    this.signal = init.signal ?? from.signal ?? null;
    const redirect = init.redirect ?? "follow";
    if (redirect !== "follow") throw new TypeError(`Request: redirect ${redirect} is not offered, follow is`);
  }
}

// outgoing makes a request by that capability. A signal is looked at before, and its
// timeout is the host's.
function outgoing(capability, more, input, init) {
  const r = new Request(input, init);
  r.signal?.throwIfAborted();
  const left = r.signal ? Math.max(timeLeft(r.signal), 1) : Infinity;
  const timeout = Math.min(r.timeout ?? Infinity, left, 60000);
  const message = bodied({
    method: r.method, url: r.url, headers: r.headers, body: r.body,
    timeout_ms: r.timeout === undefined && left === Infinity ? undefined : timeout, ...more,
  }, "fetch");
  try {
    return received(ask(capability, message), r.url);
  } catch (thrown) {
    if (thrown?.kind === 13) r.signal?.throwIfAborted(); // the standard's TimeoutError, where it was the signal's
    throw thrown;
  }
}

async function fetch(input, init) { return outgoing("http_fetch", {}, input, init); }

// connected is fetch with the token of a Connected App.
async function connected(app, input, init) { return outgoing("connected_request", { app }, input, init); }
