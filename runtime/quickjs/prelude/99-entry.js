// The way in. The host calls install once, before the snapshot, and after it
// callExport once in each call, then tick while that says there is more to do.

const SETTLED = 0, WAITING = 1, STUCK = 2;

let methods; // by name
let over = false;

function install(namespace, names) {
  methods = new Map();
  for (const name of names) {
    if (typeof namespace[name] !== "function") {
      throw new TypeError(`the export ${name} is ${name in namespace ? `no function but ${typeof namespace[name]}` : "missing"}`);
    }
    methods.set(name, namespace[name]);
  }
  loading = false;
  // What was asked for while the script was loaded belongs to no call.
  state = callerIs = requestIs = began = undefined;
  latest = 0;
}

function callExport(name, input) {
  try {
    const result = methods.get(name)(input);
    if (result === null || typeof result !== "object" && typeof result !== "function" || typeof result.then !== "function") {
      finish(result);
      return timers.length > 0 ? WAITING : SETTLED;
    }
    Promise.resolve(result).then(finish).catch(fail);
  } catch (thrown) {
    fail(thrown);
  }
  return WAITING;
}

function tick() {
  const timer = timers.shift();
  if (timer === undefined) return over ? SETTLED : STUCK;
  try {
    timer.fn(...timer.args);
  } catch (thrown) {
    fail(thrown);
  }
  return WAITING;
}

// finish hands over the result. Without one there is no output: an event handler
// then sets nothing, and a method's message is null.
function finish(result) {
  over = true;
  if (result === undefined || result === null) return;
  const text = JSON.stringify(result);
  if (text !== undefined) host.output(text);
}

// where is asked when the host has ended a call in the middle of something.
function where() { return new Error().stack; }

// fail ends the call; it does not return.
function fail(thrown) { host.fail(describe(thrown)); }

for (const [name, value] of Object.entries({
  ArmatureError, ...Object.fromEntries([...errorClasses.values()].map((c) => [c.name, c])),
  ask, doc, kv, call, enqueue, publish, sendmail, verifyWebhook, config, respond, html, tell, caller, request, connected, log, console,
  TextEncoder, TextDecoder, URL, URLSearchParams, AbortController, AbortSignal, Headers, Request, Response, fetch,
  crypto, CryptoKey, performance, structuredClone, setTimeout, clearTimeout,
})) define(globalThis, name, value);
