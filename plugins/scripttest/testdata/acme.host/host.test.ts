// What the host of tests does, said by tests: every one of them passes.
import { test, assert, host } from "armature:test";
import { write } from "./main";

host.put("Setting", { name: "S", value: 1 }); // is there in every test

test("documents", () => {
  const put = host.put("ToDo", { name: "A", description: "x", gone: null });
  assert.deepEqual(put, {
    owner: "test@example.com", creation: "2026-01-02 03:04:05.000000", modified: "2026-01-02 03:04:05.000000",
    modified_by: "test@example.com", idx: 0, docstatus: 0, name: "A", description: "x", doctype: "ToDo",
  });
  assert.equal(host.doc("Setting", "S")?.value, 1);
  assert.equal(host.doc("ToDo", "B"), null);
  assert.equal(doc.insert("ToDo", { description: "y" }).name, "todo-1");
  assert.deepEqual(host.docs("ToDo").map((d) => d.name), ["A", "todo-1"]);
  host.now = "2026-01-03T00:00:00Z";
  host.user = { name: "ann@example.com", roles: ["Clerk"] };
  const changed = doc.update("ToDo", "A", { description: "z", name: "C" });
  assert.deepEqual([changed.description, changed.owner, changed.name, changed.modified, changed.modified_by],
    ["z", "test@example.com", "A", "2026-01-03 00:00:00.000000", "ann@example.com"]);
  changed.description = "changed outside";
  assert.equal(host.doc("ToDo", "A")?.description, "z");
});

test("refusals", () => {
  host.put("ToDo", { name: "A" });
  assert.throws(() => doc.get("ToDo", "B"), NotFoundError);
  assert.throws(() => doc.get("ToDo", "B"), { type: "DoesNotExistError", message: "ToDo B not found", kind: 5 });
  assert.throws(() => doc.insert("ToDo", { name: "A" }), { type: "DuplicateEntryError", message: "ToDo A already exists" });
  assert.throws(() => doc.update("ToDo", "A", { modified: "2020-01-01" }), { type: "TimestampMismatchError" });
  assert.throws(() => doc.update("ToDo", "B", {}), NotFoundError);
  assert.throws(() => doc.get("ToDo", ""), BadRequestError);
  assert.throws(() => doc.delete("ToDo", "A"), { message: "The plugin acme.host is not granted doc_delete on this site" });
  assert.throws(() => kv.get("x".repeat(256)), BadRequestError);
  assert.throws(() => enqueue("acme.host.echo"), PermissionError);
  assert.throws(() => request.method, { message: "No HTTP request made this call" });
  assert.throws(() => call("acme.other.x"), { type: "ValidationError", message: "Failed to get method for command acme.other.x" });
});

test("DocTypes of the plugin's own", () => {
  assert.equal(doc.insert("Item", { code: "tea", title: "Tea" }).name, "tea");
  assert.throws(() => doc.insert("Item", { code: "tea", title: "Tea" }), ConflictError);
  assert.throws(() => doc.insert("Item", { code: "rum", title: "" }), { type: "MandatoryError", message: "[Item, rum]: title" });
  assert.throws(() => doc.update("Item", "tea", { title: null }), { type: "MandatoryError" });
  assert.deepEqual(host.docs("Item").map((d) => d.title), ["Tea"]);
});

test("docstatus", () => {
  host.put("Order", { name: "O" });
  assert.throws(() => doc.cancel("Order", "O"), { type: "DocstatusTransitionError", message: "Cannot change docstatus of Order from 0 to 2" });
  assert.equal(doc.submit("Order", "O").docstatus, 1);
  assert.equal(doc.cancel("Order", "O").docstatus, 2);
  assert.throws(() => doc.update("Order", "O", { x: 1 }), /cancelled/);
});

test("lists", () => {
  for (const [name, n, note] of [["A", 1, undefined], ["B", 10, "x"], ["C", 9.5, ""]] as const) host.put("Row", { name, n, note, status: name === "B" ? "closed" : "Open" });
  const names = (options: ListOptions) => doc.list("Row", { orderBy: "name", ...options }).map((d) => d.name).join("");
  assert.equal(names({}), "ABC");
  assert.equal(names({ orderBy: "n desc" }), "BCA");
  assert.equal(names({ orderBy: "status asc, n desc" }), "CAB");
  assert.equal(names({ filters: { status: "Open" } }), "AC");
  assert.equal(names({ filters: { n: [">", 9] } }), "BC");
  assert.equal(names({ filters: { n: ["between", [1, 9.5]] } }), "AC");
  assert.equal(names({ filters: { note: ["is", "set"] } }), "B");
  assert.equal(names({ filters: { name: ["in", ["A", "B"]] }, any: { n: 1, status: "Open" } }), "A");
  assert.equal(names({ filters: [["status", "like", "o_e%"], ["name", "not in", ["C"]]] }), "A");
  assert.equal(names({ start: 1, limit: 1 }), "B");
  assert.equal(names({ limit: Infinity }), "ABC");
  assert.deepEqual(doc.list("Row", { fields: ["name", "note", "none"], filters: { name: "A" } }), [{ name: "A", note: null, none: null }]);
  assert.equal(doc.count("Row", { status: "Open" }), 2);
  assert.equal(doc.count("Nothing"), 0);
  assert.throws(() => names({ filters: { n: ["timespan", "today"] } }), NotImplementedError);
});

test("a call is a transaction", async () => {
  assert.equal(await host.call("write", {}), 1);
  await assert.rejects(host.call("write", {}), ConflictError);
  assert.equal(host.docs("ToDo").length, 1);
});

test("a call that fails leaves nothing", async () => {
  await assert.rejects(host.call(write, { fail: true }), /after writing/);
  assert.equal(host.docs("ToDo").length, 0);
});

test("a GET leaves nothing", async () => {
  assert.equal(await host.call("write", {}, { verb: "GET" }), 1);
  assert.equal(host.docs("ToDo").length, 0);
  assert.equal(await host.call("keep", { key: "k", value: 1 }, { verb: "GET" }), null);
});

test("calls do not mix", async () => {
  const both = await Promise.allSettled([host.call("write", {}), host.call("write", { fail: true })]);
  assert.deepEqual(both.map((b) => b.status), ["fulfilled", "rejected"]);
  assert.equal(host.docs("ToDo").length, 1);
});

test("what the manifest says of a method", async () => {
  host.put("ToDo", { name: "T" });
  await assert.rejects(host.call("close", {}), { type: "ValidationError", message: /name.*is missing/ });
  await assert.rejects(host.call("close", { name: 1 }), { type: "FrameworkTypeError" });
  await assert.rejects(host.call("close", { name: "T" }, { verb: "GET" }), { type: "PermissionError", message: "Not permitted" });
  host.user = "Guest";
  await assert.rejects(host.call("close", { name: "T" }), { message: "You need to log in to call acme.host.close" });
  assert.equal(await host.call("acme.host.set", { key: "k", value: 2 }), 2);
  host.user = { name: "eve@example.com", roles: [] };
  await assert.rejects(host.call("close", { name: "T" }), { message: "User eve@example.com may not call acme.host.close" });
  host.user.roles.push("Clerk");
  const done = await host.call("close", { name: "T", times: "3" });
  assert.deepEqual([done.status, done.times], ["Closed", 3]); // "3" is text, as in a query string
  await assert.rejects(host.call("close", { name: "T" }), { type: "ClosedError" });
  await assert.rejects(host.call("nothing"), /exports no function nothing/);
});

test("caller, config, request and reply", async () => {
  host.config = { limit: 7 };
  host.user = { name: "bea@example.com", fullName: "Bea", roles: ["Clerk"] };
  host.request = { headers: { "User-Agent": "test", Cookie: "sid=1" } };
  assert.deepEqual(await host.call("echo", { a: 1 }),
    { user: "bea@example.com", name: "Bea", clerk: true, limit: 7, agent: "test", secret: null });
  assert.deepEqual(host.reply, { status: 201, headers: { "x-calls": "0" }, body: 'POST /api/method/acme.host.echo {"a":1}' });
  host.request = { method: "PUT", path: "/hook", body: new Uint8Array([255]) };
  assert.deepEqual([request.method, [...request.bytes()]], ["PUT", [255]]);
  assert.throws(() => respond({ headers: { "set-cookie": "a=b" } }), ValidationError);
  assert.throws(() => respond({ status: 99 }), ValidationError);
});

test("kv keeps for as long as it is told", async () => {
  await host.call("keep", { key: "k", value: [1] });
  assert.deepEqual(kv.get("k"), [1]);
  host.now = new Date(host.now.getTime() + 60_000);
  assert.equal(kv.get("k"), null);
  kv.set("k", 1);
  kv.delete("k");
  assert.equal(kv.get("k"), null);
});

test("requests go to who answers them", async () => {
  await assert.rejects(host.call("rates"), NotImplementedError);
  host.on("http_fetch", ({ url, method, body }) => ({ status: 202, body: { url, method, body } }));
  assert.deepEqual(await host.call("rates"), {
    status: 202, type: "application/json", body: { url: "https://api.example.com/rates?x=1", method: "POST", body: "ask" },
  });
  assert.equal((await host.call("rates", { url: "https://a.example.org:8443/" })).status, 202);
  await assert.rejects(host.call("rates", { url: "https://evil.example.com/" }), { type: "PermissionError", message: "evil.example.com is not a host that may be reached" });
  host.on("http_fetch", () => { throw new UnavailableError("down"); });
  await assert.rejects(host.call("rates"), { type: "ServiceUnavailable", message: "down" });
  assert.equal(host.asked("http_fetch").length, 5);
  assert.deepEqual(host.asked("http_fetch")[0].headers, { accept: "text/plain" });
});

test("no request goes out of a transaction", async () => {
  host.on("http_fetch", () => ({ body: "text" }));
  await assert.rejects(host.call("manual"), /the transaction has begun/); // the second, after the insert
  assert.equal(host.asked("http_fetch").length, 2);
  assert.equal(host.docs("ToDo").length, 0);
});

test("methods of others", async () => {
  host.method("acme.other.x", ({ name }) => ({ hello: name }));
  assert.deepEqual(await host.call("outer", { method: "acme.other.x" }), { hello: "N" });
  await assert.rejects(host.call("outer", { method: "acme.host.close" }), NotFoundError);
  await assert.rejects(host.call("outer", { method: "acme.host.later" }), /cannot be a promise/);
});

test("answers of the test, and what was asked", async () => {
  host.put("ToDo", { name: "T", status: "Open" });
  host.on("doc_update", (request, standard) => {
    if (request.name === "T") throw new PermissionError("Not yours", { type: "NotYoursError" });
    return standard();
  });
  await assert.rejects(host.call("close", { name: "T" }), { type: "NotYoursError", message: "Not yours" });
  host.on("doc_get", (request, standard) => ({ ...(standard() as Doc), status: "Closed" }));
  await assert.rejects(host.call("close", { name: "T" }), { type: "ClosedError" });
  assert.deepEqual(host.asked().map((a) => a.capability), ["doc_get", "doc_update", "doc_get"]);
  assert.throws(() => host.on("doc_gte" as any, () => null), /there are doc_get, doc_list/);
});

test("the log", () => {
  log.warn("careful", { n: 1 });
  console.error("plain", { a: [1] });
  assert.deepEqual(host.log, [
    { level: "warn", message: "careful", attributes: { n: 1 } },
    { level: "error", message: 'plain {"a":[1]}' },
  ]);
});

test("time stands still until it is set", () => {
  assert.equal(new Date().toISOString(), "2026-01-02T03:04:05.000Z");
  assert.equal(Date.now(), host.now.getTime());
  host.now = "2030-05-06";
  assert.equal(new Date().getFullYear(), 2030);
  assert.throws(() => { host.now = "no date"; }, TypeError);
});
