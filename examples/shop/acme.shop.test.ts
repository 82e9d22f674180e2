/// <reference path="../../sdk/js/armature-test.d.ts" />
import { test, assert, host } from "armature:test";
import { check, price } from "./acme.shop.ts";

// What is put at the top level is there in every test.
host.put("Shop Item", { name: "tea", item_code: "tea", rate: 2.5, stock: 3 });

const stock = () => host.doc("Shop Item", "tea")?.stock;

test("an order takes from the stock", async () => {
  const made = await host.call("order", { item: "tea", qty: 2 });
  assert.match(made.id, /^[0-9a-f-]{36}$/);
  assert.deepEqual([made.total, made.left, stock()], [5, 1, 1]);
  assert.deepEqual(host.log, [{ level: "info", message: "ordered", attributes: { item: "tea", qty: 2 } }]);
});

test("what an order refuses leaves the stock as it was", async () => {
  await assert.rejects(host.call("order", { item: "tea", qty: 4 }), { type: "OutOfStockError", message: "Only 3 of tea left" });
  await assert.rejects(host.call("order", { item: "coffee" }), NotFoundError);
  await assert.rejects(host.call("order", {}), ValidationError);
  await assert.rejects(host.call("order", { item: "tea" }, { verb: "GET" }), PermissionError);
  host.user = "Guest";
  await assert.rejects(host.call("order", { item: "tea" }), PermissionError);
  assert.equal(stock(), 3);
});

test("an order that the database refuses", async () => {
  host.on("doc_update", () => { throw new ConflictError("somebody was faster"); });
  await assert.rejects(host.call("order", { item: "tea" }), /somebody was faster/);
});

test("a price is for everybody", async () => {
  host.user = "Guest";
  assert.deepEqual(await host.call("price", { rate: "2.5", qty: "4" }, { verb: "GET" }), { total: 10, user: "Guest" });
  assert.throws(() => price({ rate: "much" }), ValidationError);
});

test("an item has a label, and no negative rate", () => {
  const item = host.doc<any>("Shop Item", "tea");
  assert.deepEqual(check({ event: "validate", doc: item, before: null }), { label: "TEA at 2.50" });
  assert.throws(() => check({ event: "validate", doc: { ...item, rate: -1 }, before: item }), /not negative/);
});
