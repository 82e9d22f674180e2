// The conformance plugin in C++; what each method does is described in
// ../../README.md.
#include "armature.hpp"

using armature::Document, armature::Error, armature::Event, armature::json, armature::Kind, armature::Query, armature::Result;

Document echo(Document args) { return args; }
ARMATURE_METHOD("echo", echo)

struct Inner {
  std::string text;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Inner, text)

struct Given {
  std::string text;
  int count;
  double ratio;
  bool flag;
  std::vector<int> list;
  Inner inner;
  json absent;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Given, text, count, ratio, flag, list, inner, absent)

Document arguments(const Given& in) {
  int sum = 0;
  for (const int n : in.list) sum += n;
  return {{"text", in.text + "!"}, {"count", in.count + 1}, {"ratio", in.ratio / 2},      {"flag", !in.flag},
          {"sum", sum},            {"inner", in.inner.text}, {"absent", in.absent.is_null()}};
}
ARMATURE_METHOD("arguments", arguments)

Document find(const Document& args) {
  auto with_status = Query("ToDo").eq("status", args.text("status"));
  const long long count = with_status.count().value();
  auto rows = with_status.fields({"name", "description"})
                  .any_of("priority", {"High", "Medium"})
                  .order_by("description asc")
                  .limit(args.integer("limit"))
                  .list()
                  .value();
  json descriptions = json::array();
  for (const auto& row : rows) descriptions.push_back(row.text("description"));
  return {{"count", count}, {"descriptions", descriptions}};
}
ARMATURE_METHOD("find", find)

Result<Document> transfer(const Document& args) {
  auto made = armature::insert("ToDo", {{"description", args.text("text")}}).value();
  auto closed = armature::update("ToDo", args.text("name"), {{"status", "Closed"}}).value();
  if (args.flag("fail")) return Error::invalid("fail was asked for", "TransferError");
  return Document{{"made", made.name()}, {"closed", closed.text("status")}};
}
ARMATURE_METHOD("transfer", transfer)

Document order(const Document& args) {
  constexpr auto doctype = "Conformance Order";
  const json items = {{{"item", "a"}, {"qty", 3}}, {{"item", "b"}, {"qty", 4}}};
  auto inserted = armature::insert(doctype, {{"title", args.text("title")}, {"items", items}}).value();
  auto submitted = armature::submit(doctype, inserted.name()).value();
  auto cancelled = armature::cancel(doctype, inserted.name()).value();
  armature::remove(doctype, inserted.name()).value();
  auto gone = armature::get(doctype, inserted.name());
  long long qty = 0;
  for (const auto& row : inserted.rows("items")) qty += row.integer("qty");
  return {{"inserted", inserted.integer("docstatus")}, {"submitted", submitted.integer("docstatus")},
          {"cancelled", cancelled.integer("docstatus")}, {"items", inserted.array("items").size()},
          {"qty", qty}, {"gone", gone ? Kind{} : gone.error().kind}};
}
ARMATURE_METHOD("order", order)

Result<json> show(const Document& args) { return armature::get<json>(args.text("doctype"), args.text("name")); }
ARMATURE_METHOD("show", show)

Result<Document> close_todo(const Document& args) { return armature::update("ToDo", args.text("name"), {{"status", "Closed"}}); }
ARMATURE_METHOD("close", close_todo)

Result<Document> check(const Event& event) {
  const std::string text = event.doc.text("description");
  if (text == "refuse me") return Error::invalid("The guest refuses this", "RefusedError");
  if (event.before && event.before->text("status") == "Closed" && event.doc.text("status") == "Open")
    return Error::invalid("What is closed stays closed", "ReopenError");
  if (!event.before && text.starts_with("urgent")) return Document{{"priority", "High"}};
  return Document{};
}
ARMATURE_METHOD("check", check)

Document caught(const Error& e) { return {{"kind", e.kind}, {"type", e.type}, {"message", e.message}}; }

Document attempt(const Document& args) {
  auto doc = armature::get(args.text("doctype"), args.text("name"));
  if (!doc) return caught(doc.error());
  return {{"kind", 0}, {"name", doc->name()}};
}
ARMATURE_METHOD("attempt", attempt)

Result<void> raise_error(const Document& args) {
  return Error{armature::kind_of(args.integer("kind")), args.text("message"), args.text("type")};
}
ARMATURE_METHOD("raise", raise_error)

void crash() { std::abort(); }
ARMATURE_METHOD("crash", crash)

int calls = 0;

Document tally() { return {{"n", ++calls}}; }
ARMATURE_METHOD("tally", tally)

Document relay(const Document& args) {
  auto result = armature::call(args.text("method"), args.object("args"));
  if (!result) return caught(result.error());
  return {{"kind", 0}, {"result", *result}};
}
ARMATURE_METHOD("relay", relay)

Document who() {
  auto user = armature::caller().value();
  return {{"user", user.name}, {"roles", user.roles}};
}
ARMATURE_METHOD("who", who)

Result<json> setting(const Document& args) { return armature::config(args.text("key")); }
ARMATURE_METHOD("setting", setting)

Result<json> keep(const Document& args) {
  armature::store(args.text("key"), args.at("value"), std::chrono::seconds(args.integer("ttl"))).value();
  return armature::load(args.text("key"));
}
ARMATURE_METHOD("keep", keep)

Result<json> recall(const Document& args) { return armature::load(args.text("key")); }
ARMATURE_METHOD("recall", recall)

Result<void> forget(const Document& args) { return armature::forget(args.text("key")); }
ARMATURE_METHOD("forget", forget)

void say(const Document& args) {
  armature::log(static_cast<armature::Level>(args.integer("level")), args.text("message"), {{"n", args.at("n")}});
}
ARMATURE_METHOD("say", say)

Document clock_now() {
  std::string hex;
  for (const auto byte : armature::random(16)) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return {{"now", armature::now().time_since_epoch().count()}, {"random", hex}};
}
ARMATURE_METHOD("clock", clock_now)

Document asked() {
  auto request = armature::request().value();
  return {{"method", request.method}, {"path", request.path}, {"query", request.query}};
}
ARMATURE_METHOD("asked", asked)

Result<void> reply(const Document& args) {
  return armature::respond(static_cast<int>(args.integer("status")), {{"content-type", "text/plain"}, {"x-guest", "yes"}}, args.text("body"));
}
ARMATURE_METHOD("reply", reply)

Result<void> tell(const Document& args) {
  if (!args.has("title")) return armature::tell(args.text("message"));
  return armature::tell(args.text("message"), args.text("title"), args.text("indicator"));
}
ARMATURE_METHOD("tell", tell)

Document reach(const Document& args) {
  auto answer = armature::fetch({.url = args.text("url")});
  if (!answer) return caught(answer.error());
  return {{"kind", 0}, {"status", answer->status}};
}
ARMATURE_METHOD("reach", reach)

Document send(const Document& args) {
  auto answer = armature::fetch({.url = args.text("url"), .method = "POST", .headers = {{"content-type", "text/plain"}, {"x-guest", "yes"}}, .body = args.text("text")});
  if (!answer) return caught(answer.error());
  return {{"kind", 0}, {"status", answer->status}, {"type", answer->headers["content-type"]}, {"body", answer->body}};
}
ARMATURE_METHOD("send", send)

Document connect(const Document& args) {
  const auto as = args.flag("own") ? armature::As::App : armature::As::Caller;
  auto answer = armature::fetch_connected(args.text("app"), {.url = args.text("url")}, as);
  if (!answer) return caught(answer.error());
  return {{"kind", 0}, {"status", answer->status}, {"body", answer->body}};
}
ARMATURE_METHOD("connect", connect)

Document verify(const Document& args) {
  auto answer = armature::requests::WebhookVerify{.secrets = {args.text("other"), args.text("secret")}}.ask();
  if (!answer) return caught(answer.error());
  return {{"kind", 0}, {"id", answer->id}, {"timestamp", answer->timestamp}};
}
ARMATURE_METHOD("verify", verify)

Document letter(const Document& args) {
  auto answer = armature::requests::Sendmail{.recipients = {args.text("to")}, .subject = args.text("subject"), .text = args.text("text")}.ask();
  if (!answer) return caught(answer.error());
  return {{"kind", 0}, {"jobs", answer->jobs.size()}};
}
ARMATURE_METHOD("letter", letter)

void spin() {
  for (volatile bool on = true; on;) {
  }
}
ARMATURE_METHOD("spin", spin)
