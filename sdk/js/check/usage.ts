// What a script may write, and behind @ts-expect-error what the compiler has to
// refuse. Nothing of it is run.

interface Task extends Doc {
  description: string;
  hours: number;
}

export const manifest = { methods: { close: { verbs: ["POST"] } }, events: { "ToDo.validate": "check" } };

export async function close({ name }: { name: string }) {
  if (!caller.has("System Manager")) throw new PermissionError("Managers only", { type: "NotForYouError" });
  const task: Task = doc.get<Task>("ToDo", name);
  const open = doc.list<{ name: string }>("ToDo", { filters: { status: "Open", hours: [">", 5] }, any: [["a", "=", null]], orderBy: "modified desc", limit: Infinity });
  const made = doc.insert({ doctype: "ToDo", description: task.description.trim() });
  doc.insert("ToDo", { description: "x" });
  kv.set("k", { a: 1 }, { ttl: 60 });
  const n: number = config("limit", 5) + (kv.get<number>("n") ?? 0) + doc.count("ToDo");
  publish("acme.shop.later", { n }, { user: "ann@example.com" });
  const job: string = enqueue("acme.shop.later", { n });
  return { ...doc.update("ToDo", made.name, { status: "Closed" }), open: open.map((row) => row.name), job };
}

export function check({ doc, before, event }: DocEvent<Task>) {
  if (before && doc.hours < before.hours) throw new ValidationError(`${event}: fewer hours`);
  return { hours: Math.max(doc.hours, 0) };
}

export async function outside() {
  const signal = AbortSignal.any([AbortSignal.timeout(1000), new AbortController().signal]);
  const response = await fetch(new URL("/x", "https://api.example.com"), { method: "POST", body: new URLSearchParams({ a: "1" }), signal });
  await connected("bank", "https://bank.example.com", { headers: { accept: "application/json" }, timeout: 500 });
  if (!response.ok) respond({ status: 502, headers: [["content-type", "text/plain"]], body: new Uint8Array([1]) });
  for (const [name, value] of response.headers) console.log(name, value.length);
  const body: string = new TextDecoder("utf-8", { fatal: true }).decode(await response.arrayBuffer());
  await new Promise<void>((done) => setTimeout(done));
  queueMicrotask(() => log.info("done", { body, at: performance.now(), path: request.path, q: request.query.get("q") }));
  return structuredClone({ body, id: crypto.randomUUID() });
}

export async function signed(secret: string) {
  const bytes = new TextEncoder().encode(request.body);
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const given = Uint8Array.from(atob(request.headers.get("x-signature") ?? ""), (c) => c.charCodeAt(0));
  const ok: boolean = await crypto.subtle.verify("HMAC", key, given, bytes);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return ok && crypto.subtle.timingSafeEqual(hash, crypto.getRandomValues(new Uint8Array(32)));
}

export async function token(jwk: JsonWebKey, signature: ArrayBuffer, text: Uint8Array) {
  const key = await crypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, false, ["verify"]);
  if (!(await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, signature, text))) throw new AuthenticationError();
  const aes = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, true, ["encrypt"]);
  return crypto.subtle.encrypt({ name: "AES-GCM", iv: crypto.getRandomValues(new Uint8Array(12)) }, aes, text);
}

export function refused(response: Response) {
  // @ts-expect-error: no such option
  doc.list("ToDo", { filter: {} });
  // @ts-expect-error: a name is missing
  doc.get("ToDo");
  // @ts-expect-error: nobody changes the caller
  caller.user = "Administrator";
  // @ts-expect-error: there is no waiting
  setTimeout(() => {}, 1000);
  // @ts-expect-error: that hash is not offered
  void crypto.subtle.digest("MD5", new Uint8Array());
  // @ts-expect-error: redirects are followed
  void fetch("https://api.example.com", { redirect: "manual" });
  // @ts-expect-error: keys are made by crypto.subtle
  new CryptoKey();
  // @ts-expect-error: a body is text or bytes
  respond({ body: { a: 1 } });
  // @ts-expect-error: no part of Node.js
  process.exit(1);
  // @ts-expect-error: no part of a browser
  document.title = response.url;
}
