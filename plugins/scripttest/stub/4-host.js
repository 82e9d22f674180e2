// The host of tests: it answers what the prelude asks for, in place of the server,
// and what is seen of it is the object that tests import.

const others = new Map(); // methods of others, by path
const staged = new Map(); // answers of the test, by capability
const asked = [];
const lines = [];
const cache = new Map();
let settings = {};

// native asks the runner, which listens where the host reads a plugin's settings:
// what the stub answers itself never gets there.
const askRunner = host.ask;

function native(what, question) {
  try {
    return askRunner("config_get", JSON.stringify({ key: JSON.stringify({ what, ...question }) }));
  } catch (refusal) {
    if (refusal instanceof Error) throw refusal;
    raise(refusal);
  }
}

const kept = (key) => {
  const entry = cache.get(key);
  return entry && (entry.until === undefined || Date.now() < entry.until) ? entry.value : null;
};

const seconds = (ttl) => (ttl > 0 ? Date.now() + ttl * 1000 : undefined);

const answers = {
  doc_get: (r) => (begin(false), get(r)),
  doc_list: (r) => (begin(false), list(r)),
  doc_count: (r) => (begin(false), count(r)),
  doc_insert: (r) => (begin(true), insert(r)),
  doc_update: (r) => (begin(true), update(r)),
  doc_delete: (r) => (begin(true), remove(r)),
  doc_submit: ({ doctype, name }) => (begin(true), update({ doctype, name, doc: { docstatus: 1 } })),
  doc_cancel: ({ doctype, name }) => (begin(true), update({ doctype, name, doc: { docstatus: 2 } })),
  method_call: nested,
  caller_get: () => ({ user: user.name, full_name: user.fullName, roles: user.roles }),
  config_get: ({ key }) => settings[key],
  kv_get: ({ key }) => kept(keyOf("kv_get", key)),
  kv_set({ key, value, ttl_s }) {
    keyOf("kv_set", key);
    if (!under || !reading(under.verb)) cache.set(key, { value, until: seconds(ttl_s) });
  },
  kv_delete({ key }) {
    keyOf("kv_delete", key);
    if (!under || !reading(under.verb)) cache.delete(key);
  },
  request_get: requestOf,
  respond: respondWith,
};

function keyOf(capability, key) {
  if (typeof key !== "string" || key === "" || new TextEncoder().encode(key).length > 255) {
    throw new BadRequestError(`${capability}: key has 1 to 255 bytes`);
  }
  return key;
}

// outside is what the server looks at before a request goes out.
function outside(capability, request) {
  if (under?.begun) {
    throw new ValidationError(`${capability}: the transaction has begun: call out before the first document call, or declare tx manual and call out before the first change`);
  }
  if (capability === "http_fetch" && pluginIs.manifest) native("reach", { url: request.url });
}

// sent is a staged answer to an outgoing request, in full.
function sent(answer) {
  if (answer === null || typeof answer !== "object") throw new TypeError("host.on: a request is answered by {status, headers, body}");
  const { status = 200, headers = {}, body } = answer;
  if (body !== null && typeof body === "object" && !ArrayBuffer.isView(body) && !(body instanceof ArrayBuffer)) {
    return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  }
  return { body: "", ...bodied({ status, headers, body }, "host.on") };
}

const outgoing_ = ["http_fetch", "connected_request"];
const free = ["caller_get", "config_get", "request_get", "respond"];

function answerTo(capability, request) {
  const { manifest, imports } = pluginIs;
  if (manifest && !free.includes(capability) && !imports.includes(capability)) {
    throw new PermissionError(`The plugin ${manifest.name} is not granted ${capability} on this site`);
  }
  if (outgoing_.includes(capability)) outside(capability, request);
  const stagedAnswer = staged.get(capability);
  if (!stagedAnswer && !Object.hasOwn(answers, capability)) {
    throw new NotImplementedError(`${capability} has no answer here: say it with host.on("${capability}", (request) => ...)`);
  }
  const answer = stagedAnswer ? stagedAnswer(copy(request), () => answers[capability]?.(request)) : answers[capability](request);
  if (typeof answer?.then === "function") {
    answer.then(undefined, () => {}); // nobody will hear how it goes on
    throw new TypeError(`${capability}: the script waits for the answer here, so it cannot be a promise`);
  }
  return stagedAnswer && outgoing_.includes(capability) ? sent(answer) : answer;
}

host.ask = (capability, text) => {
  if (!running) raise({ kind: 11, message: "The plugin is being loaded: there is no call yet, and no site" });
  const request = JSON.parse(text);
  asked.push({ capability, request });
  return copy(answerTo(capability, request)) ?? null;
};

const print = host.log;
const levels = ["debug", "info", "warn", "error"];

host.log = (level, text) => {
  const entry = { level: levels[level], message: text };
  try {
    const { message, ...attributes } = JSON.parse(text);
    if (typeof message === "string") Object.assign(entry, { message, attributes });
  } catch {} // it is the message
  lines.push(entry);
  print(level, text);
};

function only(kind, value) {
  if (typeof value !== kind) throw new TypeError(`expected a ${kind}, got ${typeof value}`);
  return value;
}

const theHost = Object.freeze({
  put: (doctype, fields = {}) => present(insertDocument(only("string", doctype), fields)),
  doc(doctype, name) {
    const found = table(doctype).find((d) => d.name === name);
    return found ? present(found) : null;
  },
  docs: (doctype) => table(doctype).map(present),
  call: callMethod,
  on(capability, answer) {
    if (!capabilities.includes(capability)) throw new TypeError(`host.on: no capability ${capability}; there are ${capabilities.join(", ")}`);
    staged.set(capability, only("function", answer));
  },
  method(path, fn) { others.set(only("string", path), only("function", fn)); },
  asked: (capability) => copy(asked.filter((a) => !capability || a.capability === capability).map((a) => (capability ? a.request : a))),
  get user() {
    forget();
    return user;
  },
  set user(who) { setUser(who); },
  get config() { return settings; },
  set config(values) { settings = values; },
  get request() {
    forget();
    return httpRequest;
  },
  set request(r) {
    httpRequest = r;
    forget();
  },
  get reply() { return reply; },
  get log() { return lines; },
  get now() { return new Date(); },
  set now(at) {
    const ms = new Date(at).getTime();
    if (Number.isNaN(ms)) throw new TypeError("host.now: expected a date");
    native("clock", { ms });
  },
});

const capabilities = [...Object.keys(answers), ...outgoing_, "enqueue"];

setUser({ name: "test@example.com", fullName: "Test", roles: ["All"] });
httpRequest = reply = null;
