// The conformance plugin in AssemblyScript; what each method does is described in
// ../../../README.md.
import * as armature from "armature";
import { Kind, Query, Result, SendmailAnswer, SendmailRequest, Value, WebhookVerifyAnswer, WebhookVerifyRequest, handle } from "armature";

export function echo(n: i32): void { handle(n, (args) => args); }
export function arguments(n: i32): void { handle(n, doArguments); }
export function find(n: i32): void { handle(n, doFind); }
export function transfer(n: i32): void { handle(n, doTransfer); }
export function order(n: i32): void { handle(n, doOrder); }
export function show(n: i32): void { handle(n, (args) => armature.get(args.text("doctype"), args.text("name")).must()); }
export function close(n: i32): void { handle(n, (args) => armature.update("ToDo", args.text("name"), closed()).must()); }
export function check(n: i32): void { handle(n, doCheck); }
export function attempt(n: i32): void { handle(n, doAttempt); }
export function raise(n: i32): void { handle(n, doRaise); }
export function crash(n: i32): void { handle(n, doCrash); }
export function tally(n: i32): void { handle(n, doTally); }
export function relay(n: i32): void { handle(n, doRelay); }
export function who(n: i32): void { handle(n, (args) => armature.caller().must()); }
export function setting(n: i32): void { handle(n, (args) => armature.config(args.text("key")).must()); }
export function keep(n: i32): void { handle(n, doKeep); }
export function recall(n: i32): void { handle(n, (args) => armature.load(args.text("key")).must()); }
export function forget(n: i32): void { handle(n, (args) => armature.forget(args.text("key")).must()); }
export function say(n: i32): void { handle(n, doSay); }
export function clock(n: i32): void { handle(n, doClock); }
export function asked(n: i32): void { handle(n, doAsked); }
export function reply(n: i32): void { handle(n, doReply); }
export function tell(n: i32): void { handle(n, doTell); }
export function reach(n: i32): void { handle(n, doReach); }
export function send(n: i32): void { handle(n, doSend); }
export function connect(n: i32): void { handle(n, doConnect); }
export function verify(n: i32): void { handle(n, doVerify); }
export function letter(n: i32): void { handle(n, doLetter); }
export function spin(n: i32): void { handle(n, doSpin); }

function closed(): Value { return Value.object().set("status", "Closed"); }

function doArguments(args: Value): Value {
  let sum: i64 = 0;
  const list = args.array("list");
  for (let i = 0; i < list.length; i++) sum += list[i].asInt();
  return Value.object()
    .set("text", args.text("text") + "!")
    .set("count", args.int("count") + 1)
    .set("ratio", args.float("ratio") / 2)
    .set("flag", !args.bool("flag"))
    .set("sum", sum)
    .set("inner", args.get("inner").text("text"))
    .set("absent", !args.has("absent"));
}

function doFind(args: Value): Value {
  const status = args.text("status");
  const rows = new Query("ToDo")
    .field("name")
    .field("description")
    .eq("status", status)
    .anyOf("priority", ["High", "Medium"])
    .orderBy("description asc")
    .limit(<i32>args.int("limit"))
    .list()
    .must()
    .asArray();
  const descriptions = Value.array();
  for (let i = 0; i < rows.length; i++) descriptions.push(rows[i].text("description"));
  return Value.object().set("count", new Query("ToDo").eq("status", status).count().must()).set("descriptions", descriptions);
}

function doTransfer(args: Value): Value {
  const made = armature.insert("ToDo", Value.object().set("description", args.text("text"))).must();
  const changed = armature.update("ToDo", args.text("name"), closed()).must();
  if (args.bool("fail")) armature.raise(Kind.Validation, "TransferError", "fail was asked for");
  return Value.object().set("made", made.text("name")).set("closed", changed.text("status"));
}

function doOrder(args: Value): Value {
  const doctype = "Conformance Order";
  const items = Value.array().push(Value.object().set("item", "a").set("qty", 3)).push(Value.object().set("item", "b").set("qty", 4));
  const inserted = armature.insert(doctype, Value.object().set("title", args.text("title")).set("items", items)).must();
  const name = inserted.text("name");
  const submitted = armature.submit(doctype, name).must();
  const cancelled = armature.cancel(doctype, name).must();
  armature.remove(doctype, name).must();
  const rows = inserted.array("items");
  let qty: i64 = 0;
  for (let i = 0; i < rows.length; i++) qty += rows[i].int("qty");
  return Value.object()
    .set("inserted", inserted.int("docstatus"))
    .set("submitted", submitted.int("docstatus"))
    .set("cancelled", cancelled.int("docstatus"))
    .set("items", rows.length)
    .set("qty", qty)
    .set("gone", armature.get(doctype, name).kind);
}

function doCheck(event: Value): Value {
  const doc = event.get("doc");
  if (doc.text("description") == "refuse me") armature.raise(Kind.Validation, "RefusedError", "The guest refuses this");
  if (event.get("before").text("status") == "Closed" && doc.text("status") == "Open") {
    armature.raise(Kind.Validation, "ReopenError", "What is closed stays closed");
  }
  const changes = Value.object();
  if (!event.has("before") && doc.text("description").startsWith("urgent")) changes.set("priority", "High");
  return changes;
}

function caught(r: Result): Value {
  return Value.object().set("kind", r.kind).set("type", r.type).set("message", r.message);
}

function doAttempt(args: Value): Value {
  const r = armature.get(args.text("doctype"), args.text("name"));
  return r.failed ? caught(r) : Value.object().set("kind", 0).set("name", r.value.text("name"));
}

function doRaise(args: Value): Value {
  armature.raise(<i32>args.int("kind"), args.text("type"), args.text("message"));
  return args;
}

function doCrash(args: Value): Value {
  throw new Error("crash was asked for");
}

let calls = 0;

function doTally(args: Value): Value { return Value.object().set("n", ++calls); }

function doRelay(args: Value): Value {
  const r = armature.call(args.text("method"), args.get("args"));
  return r.failed ? caught(r) : Value.object().set("kind", 0).set("result", r.value);
}

function doKeep(args: Value): Value {
  armature.store(args.text("key"), args.get("value"), args.int("ttl")).must();
  return armature.load(args.text("key")).must();
}

function doSay(args: Value): Value {
  armature.log(<i32>args.int("level"), args.text("message"), Value.object().set("n", args.int("n")));
  return new Value();
}

function doClock(args: Value): Value {
  const bytes = armature.random(16);
  let hex = "";
  for (let i = 0; i < bytes.length; i++) hex += (bytes[i] < 16 ? "0" : "") + bytes[i].toString(16);
  return Value.object().set("now", armature.now()).set("random", hex);
}

function doAsked(args: Value): Value {
  const r = armature.request().must();
  return Value.object().set("method", r.text("method")).set("path", r.text("path")).set("query", r.text("query"));
}

function doReply(args: Value): Value {
  const headers = Value.object().set("content-type", "text/plain").set("x-guest", "yes");
  return armature.respond(<i32>args.int("status"), headers, args.text("body")).must();
}

function doTell(args: Value): Value {
  if (!args.has("title")) return armature.tell(args.text("message")).must();
  return armature.tell(args.text("message"), args.text("title"), args.text("indicator")).must();
}

function doReach(args: Value): Value {
  const r = armature.fetch(Value.object().set("url", args.text("url")));
  return r.failed ? caught(r) : Value.object().set("kind", 0).set("status", r.value.int("status"));
}

function doSend(args: Value): Value {
  const headers = Value.object().set("content-type", "text/plain").set("x-guest", "yes");
  const r = armature.fetch(
    Value.object().set("url", args.text("url")).set("method", "POST").set("headers", headers).set("body", args.text("text")),
  );
  if (r.failed) return caught(r);
  return Value.object()
    .set("kind", 0)
    .set("status", r.value.int("status"))
    .set("type", r.value.get("headers").text("content-type"))
    .set("body", r.value.text("body"));
}

function doConnect(args: Value): Value {
  const request = Value.object().set("app", args.text("app")).set("url", args.text("url"));
  if (args.bool("own")) request.set("as", "app");
  const r = armature.fetchConnected(request);
  if (r.failed) return caught(r);
  return Value.object().set("kind", 0).set("status", r.value.int("status")).set("body", r.value.text("body"));
}

function doVerify(args: Value): Value {
  const r = new WebhookVerifyRequest([args.text("other"), args.text("secret")]).ask();
  if (r.failed) return caught(r);
  const answer = new WebhookVerifyAnswer(r.value);
  return Value.object().set("kind", 0).set("id", answer.id).set("timestamp", answer.timestamp);
}

function doLetter(args: Value): Value {
  const request = new SendmailRequest([args.text("to")]);
  request.subject = args.text("subject");
  request.text = args.text("text");
  const r = request.ask();
  if (r.failed) return caught(r);
  return Value.object().set("kind", 0).set("jobs", new SendmailAnswer(r.value).jobs.length);
}

function doSpin(args: Value): Value {
  while (true) {}
}
