// Tests of the plugin, on a real site: armature plugin test.
import { Kind, Value, get, insert } from "armature";
import { actAs, call, expect, expectError, expectJson, expectText } from "armature/testing";

function todo(description: string, status: string): Value {
  return insert("ToDo", Value.object().set("description", description).set("status", status)).must();
}

function named(name: string): Value { return Value.object().set("name", name); }

export function test_closes(n: i32): void {
  const made = todo("milk", "Open");
  expectText(call("acme.todo.close", named(made.text("name"))).must().text("status"), "Closed");
  expectText(get("ToDo", made.text("name")).must().text("status"), "Closed");
}

export function test_closesOnce(n: i32): void {
  const made = todo("milk", "Closed");
  call("acme.todo.close", named(made.text("name"))).must();
  expectText(get("ToDo", made.text("name")).must().text("modified"), made.text("modified"));
}

export function test_closeOfNothing(n: i32): void {
  expectError(call("acme.todo.close", named("T9")), Kind.NotFound, "ToDo T9 not found");
}

export function test_guestsMayNot(n: i32): void {
  const made = todo("milk", "Open");
  actAs("Guest");
  expect(call("acme.todo.close", named(made.text("name"))).kind == Kind.Permission);
}

export function test_sumsUp(n: i32): void {
  todo("milk", "Open");
  todo("bread", "Closed");
  todo("jam", "Open");
  expectJson(call("acme.todo.summary", Value.object(), "GET").must(), '{"user": "Administrator", "total": 3, "by_status": {"Open": 2, "Closed": 1}}');
}

export function test_showsAndEchoes(n: i32): void {
  const made = todo("Call Zoë", "Open");
  expectText(call("acme.todo.show", named(made.text("name")), "GET").must().text("description"), "Call Zoë");
  const text = '{"text": "a\\n\\"b\\" Zoë 😀", "n": 12, "list": [true, null, 1.5]}';
  expectJson(call("acme.todo.echo", Value.parse(text)).must(), text);
}
