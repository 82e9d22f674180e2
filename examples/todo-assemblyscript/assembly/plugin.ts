// The todo plugin in AssemblyScript: four methods over the ToDo DocType.
import * as armature from "armature";
import { Query, Value, handle } from "armature";

export function close(n: i32): void { handle(n, closeToDo); }
export function show(n: i32): void { handle(n, showToDo); }
export function summary(n: i32): void { handle(n, sumUp); }
export function echo(n: i32): void { handle(n, (args) => args); }

/** Sets a ToDo's status to Closed and returns the document. */
function closeToDo(args: Value): Value {
  const todo = armature.get("ToDo", args.text("name")).must();
  if (todo.text("status") == "Closed") return todo;
  return armature.update("ToDo", args.text("name"), Value.object().set("status", "Closed")).must();
}

/** Returns a ToDo as the caller may see it. */
function showToDo(args: Value): Value {
  return armature.get("ToDo", args.text("name")).must();
}

/** Counts the caller's ToDos by status. */
function sumUp(args: Value): Value {
  const by = Value.object();
  const todos = new Query("ToDo").field("status").all().list().must().asArray();
  for (let i = 0; i < todos.length; i++) {
    const status = todos[i].text("status");
    by.set(status, by.int(status) + 1);
  }
  return Value.object()
    .set("user", armature.caller().must().text("user"))
    .set("total", new Query("ToDo").count().must())
    .set("by_status", by);
}
