// What surrounds a call: who makes it, with which request, in which transaction, and
// what the manifest says of the method.

let user, httpRequest, reply;
let pluginIs = { functions: {}, manifest: null, imports: [] };
let under = null; // the call that host.call makes: {verb, manual, reads, begun}

const reading = (verb) => ["GET", "HEAD", "OPTIONS"].includes(verb);

// forget has caller and request be asked for again.
function forget() { callerIs = requestIs = undefined; }

function setUser(who) {
  const given = typeof who === "string" ? { name: who } : who;
  if (typeof given?.name !== "string") throw new TypeError("host.user: expected {name, fullName, roles}, or a name");
  user = { fullName: given.name, roles: [given.name === "Guest" ? "Guest" : "All"], ...given };
  forget();
}

// begin notes that the transaction has begun, after which no request goes out.
function begin(writes) {
  if (under && !under.reads && (writes || !under.manual)) under.begun = true;
}

// methodOf finds a method of the plugin by its path, the name of its function, or
// the function; of what is no method, only that it is a function.
function methodOf(what) {
  const { functions, manifest } = pluginIs;
  const named = typeof what === "function" ? Object.keys(functions).find((key) => functions[key] === what) : what;
  const method = manifest?.methods?.find((m) => m.path === named) ?? manifest?.methods?.find((m) => m.export === named);
  const fn = typeof what === "function" ? what : functions[method?.export ?? named];
  return { method, fn };
}

// admit applies the rules of who may call a method, as the server does.
function admit(method, verb) {
  const verbs = method.verbs ?? ["GET", "POST", "PUT", "DELETE"];
  if (!verbs.includes(verb === "HEAD" || verb === "OPTIONS" ? "GET" : verb)) throw new PermissionError("Not permitted");
  if (user.name === "Guest" && !method.allow_guest) throw new PermissionError(`You need to log in to call ${method.path}`);
  if (method.roles?.length && user.name !== "Administrator" && !method.roles.some((r) => user.roles.includes(r))) {
    throw new PermissionError(`User ${user.name} may not call ${method.path}`);
  }
}

// argumentsOf are the arguments once they are what the manifest declares.
const argumentsOf = (method, args) => native("arguments", { method: method.path, args: copy(args) ?? {} });

let latest = Promise.resolve(); // the call before: the server's do not share variables either

function callMethod(what, args = {}, options = {}) {
  const made = latest.then(() => callAlone(what, args, options));
  latest = made.catch(() => {});
  return made.then((result) => result); // of its own, so that a failure nobody awaits is noticed
}

async function callAlone(what, args, options) {
  for (const key of Object.keys(options)) {
    if (key !== "verb") throw new TypeError(`host.call: unknown option ${key}; expected verb`);
  }
  const verb = options.verb ?? "POST";
  const { method, fn } = methodOf(what);
  if (typeof fn !== "function") {
    throw new TypeError(`host.call: the plugin exports no function ${String(what)}; it exports ${Object.keys(pluginIs.functions).join(", ") || "none"}`);
  }
  const before = stored;
  stored = snapshot();
  under = {
    verb, manual: method?.tx === "manual", reads: reading(verb) && !method?.writes, begun: false,
    path: `/api/method/${method?.path ?? fn.name}`, body: JSON.stringify(args),
  };
  reply = null;
  forget();
  let done = false;
  try {
    let input = copy(args);
    if (method) {
      admit(method, verb);
      input = argumentsOf(method, args);
    }
    const result = copy(await fn(input));
    done = !reading(verb);
    return result ?? null;
  } catch (thrown) {
    reply = null;
    throw thrown;
  } finally {
    if (!done) stored = before; // also what a GET has written
    under = null;
    forget();
  }
}

function nested({ method: path, args }) {
  begin(true);
  const staged = others.get(path);
  if (staged) return staged(copy(args) ?? {});
  const { method, fn } = methodOf(need("method_call", "method", path));
  if (method?.path !== path) throw new ValidationError(`Failed to get method for command ${path}`);
  admit(method, under?.verb ?? "POST");
  const before = snapshot();
  try {
    return fn(argumentsOf(method, args));
  } catch (thrown) {
    stored = before;
    throw thrown;
  }
}

function requestOf() {
  if (!httpRequest && !under) throw new NotFoundError("No HTTP request made this call");
  const { method, path, query = "", headers = {}, body } = { method: under?.verb ?? "POST", path: under?.path ?? "/", body: under?.body ?? "", ...httpRequest };
  const { body: text, body_base64 } = bodied({ body }, "host.request");
  const shown = [...new Headers(headers)].filter(([name]) => !["authorization", "cookie", "proxy-authorization"].includes(name));
  return { method, path, query: String(query), headers: Object.fromEntries(shown), ...(body_base64 === undefined ? { body: text ?? "" } : { body_base64 }) };
}

const answerable = /^(content-type|content-disposition|cache-control|location|etag|last-modified|x-(?!ratelimit-|framework-)[a-z0-9-]+)$/;

function respondWith({ status, headers = {}, ...message }) {
  if (!httpRequest && !under) throw new NotFoundError("No HTTP request made this call");
  if (!(status >= 200 && status <= 599)) throw new ValidationError(`respond: the status ${status} is not between 200 and 599`);
  for (const [name, value] of Object.entries(headers)) {
    if (!answerable.test(name) || /[\r\n\0]/.test(value)) {
      throw new ValidationError(`respond: the header ${name} is not one a plugin may set, or its value not one a header has`);
    }
  }
  reply = { status, headers, body: message.body_base64 === undefined ? message.body ?? "" : bytesOf(message) };
}
