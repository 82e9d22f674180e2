/// <reference path="../../sdk/js/armature-test.d.ts" />
import { test, beforeEach, assert, site } from "armature:test";

const URL_OF = (base: string) => `https://api.frankfurter.dev/v1/latest?base=${base}`;

// The service of rates. An answer is for one request; a URL without one fails.
const rates = { body: { date: "2026-01-02", rates: { USD: 1.1, JPY: 170.125 } } };
const down = () => site.answer(URL_OF("EUR"), { status: 500 });

let now = Date.parse("2026-01-02T03:04:05Z");

function later(seconds: number) {
  now += 1000 * seconds;
  site.clock(now);
}

const convert = (amount: number, from: string, to: string, more = {}) => site.call("convert", { amount, from, to, ...more });

beforeEach(() => {
  later(0);
  site.answer(URL_OF("EUR"), rates);
});

test("the service is asked once an hour", () => {
  assert.deepEqual(convert(9.99, "EUR", "USD"), { amount: 10.99, rate: 1.1, day: "2026-01-02", age: 0, stale: false });
  later(1800);
  assert.deepEqual(convert(100, "EUR", "JPY"), { amount: 17012.5, rate: 170.125, day: "2026-01-02", age: 1800, stale: false });
  assert.equal(site.fetched().length, 1);
  later(1801);
  site.answer(URL_OF("EUR"), rates);
  convert(1, "EUR", "USD");
  assert.deepEqual(site.fetched().map((r) => r.url), [URL_OF("EUR"), URL_OF("EUR")]);
});

test("old rates will do while the service is down, for a day", () => {
  convert(1, "EUR", "USD");
  down();
  later(7200);
  assert.deepEqual(convert(1, "EUR", "USD"), { amount: 1.1, rate: 1.1, day: "2026-01-02", age: 7200, stale: true });
  convert(1, "EUR", "USD");
  assert.equal(site.fetched().length, 2, "a service that has just failed is left alone");
  down();
  later(24 * 3600);
  assert.throws(() => convert(1, "EUR", "USD"), UnavailableError);
});

test("a currency that nobody knows", () => {
  site.answer(URL_OF("XXX"), { status: 404 });
  assert.throws(() => convert(1, "EUR", "XXX"), { type: "UnknownCurrencyError", message: "There is no rate of XXX" });
  assert.throws(() => convert(1, "XXX", "EUR"), { type: "UnknownCurrencyError" });
  assert.throws(() => convert(1, "eur", "USD"), ValidationError);
});

test("an answer that is something else than rates", () => {
  convert(1, "EUR", "USD"); // takes the usual answer
  later(3601);
  site.answer(URL_OF("EUR"), { body: { date: "2026-01-02", rates: { USD: -1 } } });
  assert.equal(convert(1, "EUR", "USD").stale, true);
});

test("a host that is not approved is a mistake here, not there", () => {
  convert(1, "EUR", "USD");
  site.configure("url", "https://rates.example.com/");
  assert.throws(() => convert(1, "EUR", "USD", { max_age: 0 }), PermissionError);
});
