// The plugin that host.test.ts is about.

let calls = 0;

export function close({ name, times = 1 }: { name: string; times?: number }) {
  const task = doc.get("ToDo", name);
  if (task.status === "Closed") throw new ValidationError("It is closed already", { type: "ClosedError" });
  return { ...doc.update("ToDo", name, { status: "Closed" }), times };
}

export async function keep({ key, value }: { key: string; value: unknown }) {
  kv.set(key, value, { ttl: 60 });
  return kv.get(key);
}

export function write({ fail }: { fail?: boolean }) {
  doc.insert("ToDo", { name: "W", description: "written" });
  calls++;
  if (fail) throw new Error("after writing");
  return doc.count("ToDo");
}

export async function manual() {
  doc.count("ToDo");
  const answer = await fetch("https://api.example.com/a");
  doc.insert("ToDo", { description: await answer.text() });
  await fetch("https://api.example.com/b");
}

export async function rates({ url = "https://api.example.com/rates?x=1" }: { url?: string }) {
  const answer = await fetch(url, { method: "POST", headers: { accept: "text/plain" }, body: "ask" });
  return { status: answer.status, type: answer.headers.get("content-type"), body: await answer.json() };
}

export function echo() {
  respond({ status: 201, headers: { "x-calls": String(calls) }, body: `${request.method} ${request.path} ${request.body}` });
  return { user: caller.user, name: caller.fullName, clerk: caller.has("Clerk"), limit: config("limit", 5), agent: request.headers.get("user-agent"), secret: request.headers.get("cookie") };
}

export function outer({ method }: { method: string }) {
  return call(method, { name: "N" });
}

export async function later() {
  await null;
  doc.delete("ToDo", "T");
}
