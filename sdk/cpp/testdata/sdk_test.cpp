// Tests of armature.hpp as a native program; sdk_test.go builds and runs it.
#include "armature.hpp"

#include "stubhost.hpp"

using namespace armature;

struct Task {
  std::string name;
  int priority = 3;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Task, name, priority)

static void readers() {
  const Document d(json::parse(R"({"text": "Zoë", "int": 9007199254740993, "cut": -2.9, "query": "12.5", "yes": true, "null": null,
    "rows": [{"qty": 3}, {"qty": 4}], "huge": 1e300, "no": "12 or so"})"));
  STUB_EXPECT(d.text("text"), "Zoë");
  STUB_EXPECT(d.text("int"), "");
  STUB_EXPECT(d.integer("int"), 9007199254740993);
  STUB_EXPECT(d.integer("cut"), -2);
  STUB_EXPECT(d.integer("query"), 12);
  STUB_EXPECT(d.number("query"), 12.5);
  STUB_EXPECT(d.integer("huge"), 0);
  STUB_EXPECT(d.integer("no"), 0);
  STUB_EXPECT(d.integer("missing"), 0);
  STUB_EXPECT(d.flag("yes"), true);
  STUB_EXPECT(d.flag("missing"), false);
  STUB_EXPECT(d.has("null"), false);
  STUB_EXPECT(d.rows("rows").at(1).integer("qty"), 4);
  STUB_EXPECT(d.rows("text").size(), 0);
  STUB_EXPECT(d.object("text").fields, json::object());
  STUB_EXPECT(Document(json::array({1})).fields, json::object());
  STUB_EXPECT(Document().fields, json::object());
  STUB_EXPECT((Document{{"a", 1}}.set("b", json::array()).fields), (json{{"a", 1}, {"b", json::array()}}));
}

static Document list_all(const Document& args) {
  auto rows = Query("Task").fields({"name", "priority"}).eq("a", 1).ne("b", "x").lt("c", 2.5).gt("d", nullptr).like("e", "%f%")
                  .any_of("g", {"h", 1}).or_where("i", ">=", 7).group_by("j").order_by("k desc").start(5).limit(6).list<Task>();
  if (!rows) return {{"type", rows.error().type}};
  return {{"first", rows->at(0).name}, {"priority", rows->at(1).priority}, {"args", args.fields}};
}

static void queries() {
  stub::answer("doc_list", {{{"name", "T1"}, {"priority", 1}}, {{"name", "T2"}}});
  STUB_EXPECT(stub::call(list_all, {{"x", "y"}}).value(), (json{{"first", "T1"}, {"priority", 3}, {"args", {{"x", "y"}}}}));
  STUB_EXPECT(stub::asked("doc_list"), json::parse(R"({"doctype": "Task", "fields": ["name", "priority"], "filters": [["a", "=", 1],
    ["b", "!=", "x"], ["c", "<", 2.5], ["d", ">", null], ["e", "like", "%f%"], ["g", "in", ["h", 1]]],
    "or_filters": [["i", ">=", 7]], "group_by": "j", "order_by": "k desc", "limit_start": 5, "limit_page_length": 6})"));
  stub::refuse("doc_list", {Kind::Validation, "no such field", "DataError"});
  STUB_EXPECT(stub::call(list_all).value(), (json{{"type", "DataError"}}));
}

static int typed(const Task& task) { return task.priority; }
static void nothing() {}
static Result<void> refused() { return Error::denied("no", "ShutError"); }
static std::string mistaken(const json& args) { return args.at("missing").get<std::string>(); }

static void handling() {
  STUB_EXPECT(stub::call(typed, {{"priority", 5}}).value(), 5);
  auto wrong = stub::call(typed, {{"priority", "high"}});
  STUB_EXPECT(wrong ? "" : wrong.error().type, "FrameworkTypeError");
  STUB_EXPECT(static_cast<int>(wrong.error().kind), 2);
  auto mistake = stub::call(mistaken);
  STUB_EXPECT(static_cast<int>(mistake.error().kind), 1);
  STUB_EXPECT(stub::call(nothing).value(), nullptr);
  const Result<Document> kept = Document{{"a", 1}};
  STUB_EXPECT(kept->integer("a") + (*kept).integer("a"), 2);
  STUB_EXPECT_ERROR(stub::call(refused), Kind::Permission, "no");
  STUB_EXPECT(static_cast<int>(kind_of(99)), 1);
}

static Document event(const Event& e) { return {{"event", e.event}, {"new", !e.before}, {"name", e.doc.name()}}; }

static void events() {
  STUB_EXPECT(stub::call(event, {{"event", "validate"}, {"doc", {{"name", "T1"}}}, {"before", nullptr}}).value(),
              (json{{"event", "validate"}, {"new", true}, {"name", "T1"}}));
  STUB_EXPECT(stub::call(event, {{"event", "x"}, {"doc", json::object()}, {"before", {{"name", "T1"}}}})->at("new"), false);
}

static const std::string bytes("\xff\x00\x01 b", 5);

static Document post(const Document&) {
  auto answer = fetch({.url = "https://x", .method = "POST", .headers = {{"a", "b"}}, .body = bytes, .timeout = std::chrono::seconds(2)}).value();
  (void)fetch_connected("App", {.url = "https://y", .body = "é"}, As::App).value();
  (void)respond(201, {{"x-a", "b"}}, "é").value();
  return {{"status", answer.status}, {"same", answer.body == bytes}, {"type", answer.headers["content-type"]}};
}

static void http() {
  stub::answer("http_fetch", {{"status", 404}, {"headers", {{"content-type", "text/plain"}}}, {"body_base64", "/wABIGI="}});
  STUB_EXPECT(stub::call(post).value(), (json{{"status", 404}, {"same", true}, {"type", "text/plain"}}));
  STUB_EXPECT(stub::asked("http_fetch"), (json{{"url", "https://x"}, {"method", "POST"}, {"headers", {{"a", "b"}}}, {"body_base64", "/wABIGI="}, {"timeout_ms", 2000}}));
  STUB_EXPECT(stub::asked("connected_request"), (json{{"app", "App"}, {"as", "app"}, {"url", "https://y"}, {"body", "é"}}));
  STUB_EXPECT(stub::asked("respond"), (json{{"status", 201}, {"headers", {{"x-a", "b"}}}, {"body", "é"}}));
  for (const char* text : {"", "a", "é€😀", "\xf4\x8f\xbf\xbf"}) STUB_EXPECT(detail::is_utf8(text), true);
  for (const char* text : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xe2\x82"})
    STUB_EXPECT(detail::is_utf8(text), false);
}

static Document services(const Document&) {
  store("k", {1, 2}, std::chrono::minutes(1)).value();
  forget("k").value();
  log(Level::Warn, "slow", {{"n", 3}});
  return {{"job", enqueue("a.b.c", {{"x", 1}}).value()}, {"limit", config<int>("limit").value_or(7)},
          {"now", now().time_since_epoch().count()}, {"random", random(3)}, {"kept", *load("k")},
          {"called", call<int>("a.b.d").value()}};
}

static void others() {
  stub::answer("enqueue", {{"job", "j1"}});
  stub::refuse("config_get", Error::not_found("x"));
  stub::answer("kv_get", std::string(10000, 'x'));  // longer than the buffer
  stub::answer("method_call", 12);
  stub::set_now(Time(std::chrono::microseconds(1234567)));
  STUB_EXPECT(stub::call(services).value(),
              (json{{"job", "j1"}, {"limit", 7}, {"now", 1234567}, {"random", {7, 7, 7}}, {"kept", std::string(10000, 'x')}, {"called", 12}}));
  STUB_EXPECT(stub::asked("kv_set"), (json{{"key", "k"}, {"value", {1, 2}}, {"ttl_s", 60}}));
  STUB_EXPECT(stub::asked("enqueue"), (json{{"method", "a.b.c"}, {"args", {{"x", 1}}}}));
  STUB_EXPECT(stub::logged(), (json::array({{{"message", "slow"}, {"n", 3}}})));
}

int main() {
  readers();
  queries();
  handling();
  events();
  http();
  others();
  return stub::failures();
}
