// The host, in JavaScript's terms. A capability takes and gives one JSON value;
// reaching it waits, so nothing here needs a promise.

function ask(name, request) {
  const text = JSON.stringify(request);
  try {
    return host.ask(name, text);
  } catch (refusal) {
    if (refusal instanceof Error) throw refusal; // no memory for the answer
    raise(refusal);
  }
}

// filtersOf also takes {status: "Open", modified: [">", date]}.
function filtersOf(filters) {
  if (filters === undefined || filters === null || Array.isArray(filters)) return filters ?? undefined;
  return Object.entries(filters).map(([field, value]) =>
    Array.isArray(value) ? [field, value[0], value[1]] : [field, "=", value]);
}

const doc = Object.freeze({
  get: (doctype, name, { lock } = {}) => ask("doc_get", { doctype, name, lock }),
  list(doctype, options = {}) {
    const { fields, filters, any, orderBy, groupBy, start, limit } = options;
    for (const key of Object.keys(options)) {
      if (!["fields", "filters", "any", "orderBy", "groupBy", "start", "limit"].includes(key)) {
        throw new TypeError(`doc.list: unknown option ${key}; expected fields, filters, any, orderBy, groupBy, start, limit`);
      }
    }
    return ask("doc_list", {
      doctype, fields, filters: filtersOf(filters), or_filters: filtersOf(any),
      order_by: orderBy, group_by: groupBy, limit_start: start,
      limit_page_length: limit === Infinity ? 0 : limit,
    });
  },
  count: (doctype, filters) => ask("doc_count", { doctype, filters: filtersOf(filters) }),
  insert: (doctype, fields) => ask("doc_insert",
    { doc: typeof doctype === "string" ? { ...fields, doctype } : doctype }),
  update: (doctype, name, fields) => ask("doc_update", { doctype, name, doc: fields }),
  delete(doctype, name) { ask("doc_delete", { doctype, name }); },
  submit: (doctype, name) => ask("doc_submit", { doctype, name }),
  cancel: (doctype, name) => ask("doc_cancel", { doctype, name }),
});

const kv = Object.freeze({
  get: (key) => ask("kv_get", { key }),
  set(key, value, options = {}) { ask("kv_set", { key, value: value === undefined ? null : value, ttl_s: options.ttl }); },
  delete(key) { ask("kv_delete", { key }); },
});

const call = (method, args = {}) => ask("method_call", { method, args });
const publish = (topic, data = null, options = {}) => { ask("publish", { ...options, topic, data }); };
const enqueue = (method, args = {}, options = {}) => ask("enqueue", { ...options, method, args }).job;
const sendmail = (letter) => ask("sendmail", { ...letter, recipients: [letter.recipients].flat() }).jobs;
const verifyWebhook = (secrets, { tolerance } = {}) => ask("webhook_verify", { secrets: [secrets].flat(), tolerance_s: tolerance });
const config = (key, otherwise = null) => ask("config_get", { key }) ?? otherwise;
const respond = ({ html, ...answer }) => {
  if (html !== undefined) answer.html = String(html);
  ask("respond", bodied({ status: 200, ...answer }, "respond"));
};

// Html is text that is HTML already; everything else is escaped on its way into a page.
class Html {
  #text;
  constructor(text) { this.#text = text; }
  toString() { return this.#text; }
  static of(value) {
    if (value instanceof Html) return value.#text;
    if (Array.isArray(value)) return value.map(Html.of).join("");
    if (value === undefined || value === null || value === false) return "";
    return String(value).replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`);
  }
}

const html = (parts, ...values) => new Html(parts.reduce((text, part, i) => text + Html.of(values[i - 1]) + part));
const tell = (message, { title, indicator } = {}) => { ask("tell", { message: String(message), title, indicator }); };

// caller and request ask when they are first looked at, which is once in a call.
let callerIs, requestIs;

const caller = Object.freeze({
  get user() { return (callerIs ??= ask("caller_get", {})).user; },
  get fullName() { return (callerIs ??= ask("caller_get", {})).full_name ?? ""; },
  get roles() { return (callerIs ??= ask("caller_get", {})).roles; },
  has(role) { return caller.roles.includes(role); },
});

const theRequest = () => requestIs ??= ask("request_get", {});

const request = Object.freeze({
  get method() { return theRequest().method; },
  get path() { return theRequest().path; },
  get query() { return new URLSearchParams(theRequest().query); },
  get headers() { return new Headers(theRequest().headers); },
  get route() { return theRequest().route; },
  get base() { return theRequest().base ?? ""; },
  get body() { return textOf(theRequest()); },
  bytes: () => bytesOf(theRequest()),
  json: () => JSON.parse(textOf(theRequest())),
});

// What the host calls body or body_base64 is text or bytes here.

function textOf(message) {
  return message.body_base64 === undefined ? message.body ?? "" : new TextDecoder().decode(bytesOf(message));
}

function bytesOf(message) {
  return message.body_base64 === undefined
    ? new TextEncoder().encode(message.body ?? "")
    : Uint8Array.from(atob(message.body_base64), (c) => c.charCodeAt(0));
}

function base64(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 4096) text += String.fromCharCode(...bytes.subarray(i, i + 4096));
  return btoa(text);
}

// bodied gives an outgoing message the body the host expects.
function bodied(message, what) {
  const { body, ...rest } = message;
  if (rest.headers !== undefined) rest.headers = Object.fromEntries(new Headers(rest.headers));
  if (body === undefined || body === null) return rest;
  if (typeof body === "string") return { ...rest, body };
  if (body instanceof URLSearchParams) {
    rest.headers = { "content-type": "application/x-www-form-urlencoded;charset=UTF-8", ...rest.headers };
    return { ...rest, body: String(body) };
  }
  if (body instanceof ArrayBuffer) return { ...rest, body_base64: base64(new Uint8Array(body)) };
  if (ArrayBuffer.isView(body)) {
    return { ...rest, body_base64: base64(new Uint8Array(body.buffer, body.byteOffset, body.byteLength)) };
  }
  throw new TypeError(`${what}: the body is a string, URLSearchParams, an ArrayBuffer or a view of one`);
}
