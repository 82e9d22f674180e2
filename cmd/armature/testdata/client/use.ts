// What somebody does with a client that `armature client ts` has made: compiled
// strictly and run by the test, which makes the DocTypes.
import assert from "node:assert/strict";
import { Armature, ArmatureError, type Document, type Field } from "./api/armature.js";

const [url = "", key = "", bearer = ""] = process.argv.slice(2);
const api = new Armature({ url, key });

// Documents with rows.
const order: Document<"Shop Order"> = await api.create("Shop Order", {
  customer: "Zoe", state: "New", lines: [{ item: "Screw", qty: 4 }, { item: "Nail", qty: 2.5 }],
});
assert.equal(order.doctype, "Shop Order");
assert.deepEqual(order.lines.map((l) => [l.item, l.qty, l.idx]), [["Screw", 4, 1], ["Nail", 2.5, 2]]);
const changed = await api.update("Shop Order", order.name, { note: "soon", lines: [...order.lines.slice(1)] });
assert.equal(changed.note, "soon");
assert.equal(changed.lines.length, 1);
assert.deepEqual(await api.read("Shop Order", order.name), changed);
await assert.rejects(api.update("Shop Order", order.name, { note: "late", modified: order.modified }), (e) => e instanceof ArmatureError && e.exc_type === "TimestampMismatchError");

// Lists.
for (const [customer, total] of [["Ann", 5], ["Bob", 15], ["Cay", 25]] as const) await api.create("Shop Order", { customer, total });
const rows = await api.list("Shop Order", {
  fields: ["customer", "total"], filters: [["total", ">", 4], ["customer", "in", ["Ann", "Bob", "Zoe"]]], orderBy: { field: "total", descending: true },
});
const first: { customer?: string | null; total: number } | undefined = rows[0];
assert.deepEqual(rows, [{ customer: "Bob", total: 15 }, { customer: "Ann", total: 5 }]);
assert.equal(first?.customer, "Bob");
assert.equal(await api.count("Shop Order", { filters: [["state", "=", "New"]], orFilters: [["customer", "like", "%o%"], ["total", "between", [20, 30]]] }), 3);
assert.equal((await api.list("Shop Order", { limit: 2, start: 1 })).length, 2);
const field: Field<"Shop Order"> = "customer";
assert.equal(field, "customer");

// The way of a document.
assert.equal((await api.submit("Shop Order", order.name)).docstatus, 1);
assert.equal((await api.cancel("Shop Order", order.name)).docstatus, 2);

// Several at once, all or none.
const [made, gone] = await api.batch([
  { op: "insert", doctype: "Shop Order", doc: { customer: "Batch" } },
  { op: "delete", doctype: "Shop Order", name: order.name },
]);
const name: string = made.name;
assert.equal(made.customer, "Batch");
assert.equal(gone, null);
await assert.rejects(api.batch([{ op: "delete", doctype: "Shop Order", name }, { op: "delete", doctype: "Shop Order", name: "none" }]));
assert.equal((await api.read("Shop Order", name)).name, name);

// A Single, and odd names.
assert.equal((await api.single("Shop Rules")).open, 0);
const odd = await api.create("class", { constructor: 'a "quoted" \u2028 text', default: 'x" | "y' });
assert.equal((await api.read("class", odd.name)).constructor, 'a "quoted" \u2028 text');
for (const wrong of ["", ".", ".."]) await assert.rejects(api.delete("Shop Order", wrong), TypeError);

// Files.
const bytes = new Uint8Array([0, 1, 2, 255]);
const file = await api.upload(new Blob([bytes]), { name: "a b#?.bin", attachedTo: { doctype: "Shop Order", name } });
assert.equal(file.is_private, 1);
assert.deepEqual(new Uint8Array(await (await api.download(file.file_url)).arrayBuffer()), bytes);
for (const wrong of ["https://elsewhere.example/files/x", "/api/resource/User", "//elsewhere.example/files/x"]) await assert.rejects(api.download(wrong), TypeError);

// Methods, with and without a schema.
const sum = await api.call("acme.shop.add", { numbers: [1, 2, 3] });
const total: number = sum.total;
assert.equal(total, 6);
assert.equal((await api.query("acme.shop.add", { numbers: [4] })).total, 4);
assert.equal(await api.query("framework.ping"), "pong");
await assert.rejects(api.call("acme.shop.fail"), (e) => e instanceof ArmatureError && e.status === 417 && e.exc_type === "ValidationError" && e.message === "no such luck");

// Errors.
await assert.rejects(api.read("Shop Order", "none"), (e) => {
  assert.ok(e instanceof ArmatureError && e instanceof Error);
  assert.deepEqual([e.status, e.exc_type], [404, "DoesNotExistError"]);
  assert.match(e.message, /none/);
  assert.match(e.requestId, /./);
  return true;
});

// Who somebody is: a session, a token, nobody.
const session = new Armature({ url });
const answer = await session.login("ada@example.com", "a long enough pass phrase");
assert.equal(answer.message, "Logged In");
assert.equal(await session.query("framework.auth.get_logged_user"), "ada@example.com");
await session.create("ToDo", { description: "by a session" });
await session.logout();
await assert.rejects(session.query("framework.auth.get_logged_user"), ArmatureError);
assert.equal(await new Armature({ url, token: bearer }).query("framework.auth.get_logged_user"), "ada@example.com");
await assert.rejects(new Armature({ url, key: "wrong:key" }).list("Shop Order"), (e) => e instanceof ArmatureError && e.status === 401);

// What the compiler has to refuse.
export const refused = () => [
  // @ts-expect-error: there is no such DocType
  api.read("Shop Ordr", "x"),
  // @ts-expect-error: customer is mandatory
  api.create("Shop Order", { note: "x" }),
  // @ts-expect-error: no such choice
  api.create("Shop Order", { customer: "x", state: "Nwe" }),
  // @ts-expect-error: no such field
  api.update("Shop Order", "x", { nte: "x" }),
  // @ts-expect-error: rows are of another DocType
  api.update("Shop Order", "x", { lines: [{ itm: "x" }] }),
  // @ts-expect-error: a table is no column
  api.list("Shop Order", { fields: ["lines"] }),
  // @ts-expect-error: a number is compared with a number
  api.list("Shop Order", { filters: [["total", "=", "x"]] }),
  // @ts-expect-error: ToDo is not submitted
  api.submit("ToDo", "x"),
  // @ts-expect-error: a child table has no documents of its own
  api.list("Shop Line"),
  // @ts-expect-error: the argument is missing
  api.call("acme.shop.add"),
  // @ts-expect-error: numbers, not texts
  api.call("acme.shop.add", { numbers: ["1"] }),
  // @ts-expect-error: it is called with POST
  api.query("framework.client.insert", {}),
];

// What changes, as it changes.
const followed: string[] = [];
let lost = 0;
const losing = new Armature({
  url, key, fetch: async (...args) => {
    const response = await fetch(...args);
    if (lost++ > 0 || !response.body) return response;
    const [some, rest] = response.body.tee(); // the first connection is lost after a while
    void rest.cancel();
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, to) {
        to.enqueue(chunk);
        if (new TextDecoder().decode(chunk).includes("live two")) setTimeout(() => to.error(new Error("lost")), 50);
      },
    });
    return new Response(some.pipeThrough(cut), { status: response.status, headers: response.headers });
  },
});
const watched = await api.create("Shop Order", { customer: "live one" });
for await (const told of losing.live({ doctype: "Shop Order", fields: ["customer", "total"], filters: [["customer", "like", "live%"]] })) {
  if (told.type === "ready") await api.update("Shop Order", watched.name, { customer: "live two" });
  if (told.type === "changed") {
    const customer: string | null | undefined = told.data.customer;
    followed.push(`${told.type} ${customer}`);
    if (customer === "live two") setTimeout(() => void api.update("Shop Order", watched.name, { customer: "live three" }), 300);
  }
  if (told.type === "gap") followed.push("changed live three"); // a server that has just begun cannot know
  if (followed.length === 2) break;
}
assert.deepEqual(followed, ["changed live two", "changed live three"]);
assert.ok(lost > 1);
await assert.rejects((async () => { for await (const _ of api.live({ topic: "acme.shop.nothing" as "acme.shop.add" })) return; })(), (e) => e instanceof ArmatureError && e.status === 404);
