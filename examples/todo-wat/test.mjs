// Tests of the module without a server: armature plugin test.
import assert from "node:assert/strict";

const { Host } = await import(process.env.ARMATURE_STUBHOST);
const load = () => Host.load(process.env.ARMATURE_MODULE);

{
  const host = await load();
  host.answer("doc_get", { name: "T1", status: "Open" });
  host.answer("doc_update", { name: "T1", status: "Closed" });
  assert.deepEqual(host.call("acme.todo.close", { name: "T1" }), { name: "T1", status: "Closed" });
  assert.deepEqual(host.request("doc_update"), { doctype: "ToDo", name: "T1", doc: { status: "Closed" } });
}
{
  const host = await load();
  host.answer("doc_get", { name: "T3", status: "Closed" });
  host.call("acme.todo.close", { name: "T3" });
  assert.equal(host.request("doc_update"), undefined, "a closed ToDo is not written again");
}
{
  const host = await load();
  host.refuse("doc_get", 5, "DoesNotExistError", "ToDo T9 not found");
  assert.throws(() => host.call("acme.todo.close", { name: "T9" }), { kind: 5, type: "DoesNotExistError", message: "ToDo T9 not found" });
}
{
  const host = await load();
  host.answer("caller_get", { user: "zoe@example.com" });
  host.answer("doc_count", 3);
  host.answer("doc_list", [{ status: "Open" }, { status: "Closed" }, { status: "Open" }]);
  assert.deepEqual(host.call("acme.todo.summary"), { user: "zoe@example.com", total: 3, by_status: { Open: 2, Closed: 1 } });
}
{
  const host = await load();
  const args = { text: 'a\n"b" \u2028 Zoë 😀', n: 12, list: [true, null, 1.5], deep: { long: "x".repeat(10000) } };
  assert.deepEqual(host.call("acme.todo.echo", args), args);
  host.answer("doc_get", args);
  assert.deepEqual(host.call("acme.todo.show", { name: "T1" }), args);
}
