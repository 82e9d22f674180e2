// The site of a test, as the test sees it. Documents are reached as the script
// itself does it, by doc and the other globals.

const tested = (name, request = {}) => ask(`armature1_test.${name}`, request);

let pluginIs = { functions: {}, manifest: null };
let latestAnswer = {};

// pathOf finds a method of the plugin by its path, the name of its function, or the
// function.
function pathOf(what) {
  const { functions, manifest } = pluginIs;
  const named = typeof what === "function" ? Object.keys(functions).find((key) => functions[key] === what) : what;
  const methods = manifest?.methods ?? [];
  const found = methods.find((m) => m.path === named) ?? methods.find((m) => m.export === named);
  if (found) return found.path;
  if (typeof named === "string" && named.includes(".")) return named; // of somebody else
  throw new TypeError(`site.call: the plugin has no method ${String(named ?? what)}; it has ${methods.map((m) => m.path).join(", ") || "none"}`);
}

function only(what, allowed, given) {
  for (const key of Object.keys(given)) {
    if (!allowed.includes(key)) throw new TypeError(`${what}: unknown option ${key}; expected ${allowed.join(", ")}`);
  }
}

// receive is a message of HTTP with its body as text or bytes.
function receive({ body_base64, ...message }) {
  return body_base64 === undefined ? { body: "", ...message } : { ...message, body: bytesOf({ body_base64 }) };
}

const site = Object.freeze({
  call(method, args = {}, options = {}) {
    only("site.call", ["verb", "headers", "body"], options);
    const { verb, headers, body } = options;
    latestAnswer = {};
    latestAnswer = tested("call", bodied({ method: pathOf(method), args, verb, headers, body }, "site.call"));
    return latestAnswer.result;
  },
  get reply() { return latestAnswer.reply ? receive(latestAnswer.reply) : null; },
  get messages() { return latestAnswer.messages ?? []; },
  actAs(user, ...roles) {
    tested("act_as", { user, roles: roles.length ? roles : undefined });
    callerIs = undefined;
  },
  clock(at) {
    const ms = new Date(at).getTime();
    if (Number.isNaN(ms)) throw new TypeError("site.clock: expected a date");
    tested("clock", { at: ms * 1000 });
  },
  seed(seed) { tested("seed", { seed }); },
  configure(key, value) { tested("configure", { key, value: value ?? null }); },
  answer(url, answer = {}) {
    only("site.answer", ["status", "headers", "body", "failure", "kind", "type"], answer);
    const { failure, kind, type, ...message } = answer;
    const { body } = message;
    if (body !== null && typeof body === "object" && !ArrayBuffer.isView(body) && !(body instanceof ArrayBuffer)) {
      message.headers = { "content-type": "application/json", ...message.headers };
      message.body = JSON.stringify(body);
    }
    tested("answer", { ...bodied(message, "site.answer"), url, failure, failure_kind: kind, failure_type: type });
  },
  fetched: () => tested("fetched").map(receive),
  fresh() {
    tested("site");
    callerIs = undefined;
  },
});
