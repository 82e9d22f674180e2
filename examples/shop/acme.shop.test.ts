/// <reference path="../../sdk/js/armature-test.d.ts" />
import { test, beforeEach, assert, site } from "armature:test";
import { price } from "./acme.shop.ts";

beforeEach(() => { doc.insert("Shop Item", { item_code: "tea", rate: 2.5, stock: 3 }); });

const stock = () => doc.get("Shop Item", "tea").stock;

test("an order takes from the stock", () => {
  const made = site.call("order", { item: "tea", qty: 2 });
  assert.match(made.id, /^[0-9a-f-]{36}$/);
  assert.deepEqual([made.total, made.left, stock()], [5, 1, 1]);
});

test("what an order refuses leaves the stock as it was", () => {
  assert.throws(() => site.call("order", { item: "tea", qty: 4 }), { type: "OutOfStockError", message: "Only 3 of tea left" });
  assert.throws(() => site.call("order", { item: "coffee" }), NotFoundError);
  assert.throws(() => site.call("order", {}), ValidationError);
  assert.throws(() => site.call("order", { item: "tea" }, { verb: "GET" }), PermissionError);
  site.actAs("Guest");
  assert.throws(() => site.call("order", { item: "tea" }), PermissionError);
  site.actAs("Administrator");
  assert.equal(stock(), 3);
});

test("an order is for who may write items", () => {
  site.actAs("zoe@example.com", "Blogger");
  assert.throws(() => site.call("order", { item: "tea" }), PermissionError);
});

test("a price is for everybody", () => {
  site.actAs("Guest");
  assert.deepEqual(site.call("price", { rate: "2.5", qty: "4" }, { verb: "GET" }), { total: 10, user: "Guest" });
  assert.throws(() => price({ rate: "much" }), ValidationError);
});

test("an item has a label, and no negative rate, whoever writes it", () => {
  assert.equal(doc.get("Shop Item", "tea").label, "TEA at 2.50");
  assert.throws(() => doc.update("Shop Item", "tea", { rate: -1 }), /not negative/);
  assert.equal(doc.get("Shop Item", "tea").rate, 2.5);
});
