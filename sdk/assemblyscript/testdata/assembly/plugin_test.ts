// Tests of the SDK: armature plugin test.
import {
  CallerGetAnswer, CallerGetRequest, DocListRequest, Kind, Query, Value, body, caller, config, fetch, get, insert, now, random, setBody,
} from "armature";
import { actAs, answer, configure, expect, expectError, expectInt, expectText, fetched, send, setClock, setSeed } from "armature/testing";

const URL = "https://x.example/";

/** Has the plugin fetch a body and answer with it. */
function relayed(name: string, text: string, length: i32): void {
  answer(Value.object().set("url", URL).set(name, text));
  const got = send(Value.object().set("method", "acme.check.relay").set("args", Value.object().set("url", URL))).must();
  expectInt(got.int("result"), length);
  expectInt(body(got.get("reply")).length, length);
}

// RFC 4648, section 10, and what is no text.
export function test_bodies(n: i32): void {
  relayed("body", "", 0);
  relayed("body", "foob", 4);
  relayed("body", "Zo\u00eb", 4);
  relayed("body", "\u{1f600}", 4);
  relayed("body_base64", "Zg==", 1);
  relayed("body_base64", "Zm8=", 2);
  relayed("body_base64", "Zm9v", 3);
  relayed("body_base64", "/w==", 1);
}

// Bytes of every kind, there and back.
export function test_bytes(n: i32): void {
  const all = new Uint8Array(256);
  for (let i = 0; i < 256; i++) all[i] = <u8>(255 - i);
  for (let length = 0; length <= 256; length += 17) {
    const back = body(setBody(Value.object(), all.subarray(0, length)));
    expectInt(back.length, length);
    for (let i = 0; i < length; i++) expectInt(back[i], all[i]);
  }
  expectText(setBody(Value.object(), all.subarray(0, 2)).text("body_base64"), "//4=");
}

function todo(): Value { return insert("ToDo", Value.object().set("description", "x")).must(); }

// What a test says of its site: the time, the randomness, who acts, the settings, and
// what the network answers.
export function test_time(n: i32): void {
  setClock(1767323045000000);
  expect(now() == 1767323045000000);
  expectText(todo().text("date"), "2026-01-02");
}

function drawn(seed: i64): string {
  setSeed(seed);
  return random(16).toString();
}

export function test_randomness(n: i32): void {
  expectText(drawn(1), drawn(1));
  expect(drawn(1) != drawn(2));
}

export function test_caller(n: i32): void {
  expectText(caller().must().text("user"), "Administrator");
  actAs("zoe@example.com", ["Blogger"]);
  expectText(caller().must().text("user"), "zoe@example.com");
  expect(caller().must().texts("roles").includes("Blogger"));
  actAs("Guest");
  expect(get("User", "Administrator").kind == Kind.Permission);
}

export function test_settings(n: i32): void {
  expect(!config("limit").must().asInt());
  configure("limit", 5);
  expectInt(config("limit").must().asInt(), 5);
}

export function test_network(n: i32): void {
  const request = Value.object().set("url", URL);
  answer(Value.object().set("url", URL).set("status", 404).set("body", "no"));
  expectInt(fetch(request).must().int("status"), 404);
  expectError(fetch(request), Kind.Unavailable, "The test has not said what " + URL + " answers");
  expectInt(fetched().length, 2);
}

// What may be missing of a request is told from zero.
export function test_requests(n: i32): void {
  for (let i = 0; i < 3; i++) todo();
  const list = new DocListRequest("ToDo");
  list.limit_page_length = 2;
  expectInt(list.ask().must().asArray().length, 2);
  list.limit_page_length = 0; // all
  expectInt(list.ask().must().asArray().length, 3);
  expectInt(new Query("ToDo").or("status", "=", "Closed").count().must().asInt(), 0);
  expectText(new CallerGetAnswer(new CallerGetRequest().ask().must()).user, "Administrator");
}
