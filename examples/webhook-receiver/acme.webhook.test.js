/// <reference path="../../sdk/js/armature-test.d.ts" />
import { test, beforeEach, assert, site } from "armature:test";

const SECRET = "c2VjcmV0IG9mIHRoZSB0ZXN0cw=="; // base64

beforeEach(() => {
  site.clock("2026-01-02T03:04:05Z");
  site.configure("secret", `whsec_${SECRET}`);
});

const seconds = () => Math.floor(Date.now() / 1000);

/**
 * Calls receive as somebody who is not logged in.
 * @param {Record<string, string>} headers
 * @param {string} body
 */
function receive(headers, body) {
  site.actAs("Guest");
  try {
    return site.call("receive", {}, { headers, body });
  } finally {
    site.actAs("Administrator");
  }
}

const stored = () => doc.list("Received Webhook", { fields: ["event_type", "payload", "sent_at"] });

/** @param {string} text */
const bytes = (text) => Uint8Array.from(text, (c) => c.charCodeAt(0));

/**
 * Has a delivery arrive, signed as its sender does.
 * @param {string} id
 * @param {string} body
 * @param {{time?: number, secret?: string, before?: string}} [how]
 */
async function deliver(id, body, { time = seconds(), secret = SECRET, before = "" } = {}) {
  const key = await crypto.subtle.importKey("raw", bytes(atob(secret)), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(`${id}.${time}.${body}`)));
  const signature = `${before}v1,${btoa(String.fromCharCode(...mac))}`;
  return receive({ "webhook-id": id, "webhook-timestamp": String(time), "webhook-signature": signature }, body);
}

test("a delivery is stored", async () => {
  assert.deepEqual(await deliver("msg_1", '{"type": "order.paid"}'), { received: "msg_1" });
  assert.deepEqual(stored(), [{ event_type: "order.paid", payload: '{"type": "order.paid"}', sent_at: "2026-01-02 03:04:05" }]);
});

test("a delivery that comes again is stored once", async () => {
  await deliver("msg_1", "{}");
  assert.deepEqual(await deliver("msg_1", "{}"), { received: "msg_1", again: true });
  assert.equal(stored().length, 1);
});

test("who has not signed is not listened to", async () => {
  await assert.rejects(deliver("msg_1", "{}", { secret: btoa("another") }), { type: "AuthenticationError", message: /not signed/ });
  await assert.rejects(deliver("msg 1", "{}"), BadRequestError);
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA v1a,BBBB v1,%" };
  assert.throws(() => receive(headers, "{}"), AuthenticationError);
  assert.equal(stored().length, 0);
});

test("an old delivery may be a recorded one", async () => {
  await assert.rejects(deliver("msg_1", "{}", { time: seconds() - 301 }), /too old/);
  await assert.rejects(deliver("msg_1", "{}", { time: seconds() + 301 }), /too old/);
  await deliver("msg_1", "{}", { time: seconds() - 299 });
});

test("one of several signatures, by one of several secrets", async () => {
  site.configure("secret", [btoa("old"), `whsec_${SECRET}`]);
  await deliver("msg_1", "{}", { before: "v1,AAAA v2,BBBB " });
});

// The example that the libraries of Standard Webhooks are tested with.
test("what others have signed", () => {
  const body = '{"test": 2432232314}';
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  site.configure("secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  site.clock("2021-02-25T15:02:10Z");
  for (const wrong of [{ "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJe" }, { "webhook-timestamp": "1614265331" }, { "webhook-timestamp": "now" }, { "webhook-signature": "" }]) {
    assert.throws(() => receive({ ...headers, ...wrong }, body), AuthenticationError);
  }
  assert.throws(() => receive(headers, body + " "), AuthenticationError);
  const others = headers["webhook-signature"].replace("g0h", "h0g");
  assert.throws(() => receive({ ...headers, "webhook-signature": `${others} `.repeat(16) + headers["webhook-signature"] }, body), AuthenticationError);
  assert.deepEqual(receive({ ...headers, "webhook-signature": `${others} ${headers["webhook-signature"]}` }, body), { received: headers["webhook-id"] });
});

test("a secret that is empty signs nothing", () => {
  for (const none of ["", "whsec_"]) {
    site.configure("secret", none);
    assert.throws(() => receive({ "webhook-id": "a", "webhook-timestamp": String(seconds()), "webhook-signature": "v1,AAAA" }, "{}"), BadRequestError);
  }
});

test("without a secret nothing is received", async () => {
  site.configure("secret", null);
  await assert.rejects(deliver("msg_1", "{}"), UnavailableError);
});

test("what is no JSON", async () => {
  await assert.rejects(deliver("msg_1", "{"), BadRequestError);
});
