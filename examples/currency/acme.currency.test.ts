/// <reference path="../../sdk/js/armature-test.d.ts" />
import { test, assert, host } from "armature:test";

// The service of rates, which is down for as long as a test says so.
let down = false;

host.on("http_fetch", ({ url }) => {
  if (down) return { status: 500 };
  const base = new URL(url).searchParams.get("base");
  return base === "EUR" ? { body: { date: "2026-01-02", rates: { USD: 1.1, JPY: 170.125 } } } : { status: 404 };
});

const convert = (amount: number, from: string, to: string, more = {}) => host.call("convert", { amount, from, to, ...more });

const later = (seconds: number) => { host.now = host.now.getTime() + 1000 * seconds; };

test("the service is asked once an hour", async () => {
  assert.deepEqual(await convert(9.99, "EUR", "USD"), { amount: 10.99, rate: 1.1, day: "2026-01-02", age: 0, stale: false });
  later(1800);
  assert.deepEqual(await convert(100, "EUR", "JPY"), { amount: 17012.5, rate: 170.125, day: "2026-01-02", age: 1800, stale: false });
  assert.equal(host.asked("http_fetch").length, 1);
  later(1801);
  await convert(1, "EUR", "USD");
  assert.equal(host.asked("http_fetch").length, 2);
  assert.equal(host.asked("http_fetch")[0].url, "https://api.frankfurter.dev/v1/latest?base=EUR");
});

test("old rates will do while the service is down, for a day", async () => {
  await convert(1, "EUR", "USD");
  down = true;
  later(7200);
  assert.deepEqual(await convert(1, "EUR", "USD"), { amount: 1.1, rate: 1.1, day: "2026-01-02", age: 7200, stale: true });
  await convert(1, "EUR", "USD");
  assert.equal(host.asked("http_fetch").length, 2, "a service that has just failed is left alone");
  later(24 * 3600);
  await assert.rejects(convert(1, "EUR", "USD"), UnavailableError);
});

test("a currency that nobody knows", async () => {
  await assert.rejects(convert(1, "EUR", "XXX"), { type: "UnknownCurrencyError", message: "There is no rate of XXX" });
  await assert.rejects(convert(1, "XXX", "EUR"), { type: "UnknownCurrencyError" });
  await assert.rejects(convert(1, "eur", "USD"), ValidationError);
});

test("an answer that is something else than rates", async () => {
  host.on("http_fetch", () => ({ body: { date: "2026-01-02", rates: { USD: -1 } } }));
  await assert.rejects(convert(1, "EUR", "USD"), UnavailableError);
});

test("a host that is not approved is a mistake here, not there", async () => {
  await convert(1, "EUR", "USD");
  host.config = { url: "https://rates.example.com/" };
  await assert.rejects(convert(1, "EUR", "USD", { max_age: 0 }), PermissionError);
});
