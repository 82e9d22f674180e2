// Tests of todo.cpp as a native program, without a server: armature plugin test.
#include "todo.cpp"

#include "stubhost.hpp"

using armature::Error, armature::Kind;

static void closes() {
  stub::answer("doc_get", {{"name", "T1"}, {"status", "Open"}});
  stub::answer("doc_update", {{"name", "T1"}, {"status", "Closed"}});
  STUB_EXPECT(stub::call(close_todo, {{"name", "T1"}}).value(), (json{{"name", "T1"}, {"status", "Closed"}}));
  STUB_EXPECT(stub::asked("doc_update"), (json{{"doctype", "ToDo"}, {"name", "T1"}, {"doc", {{"status", "Closed"}}}}));
}

static void closes_once() {
  stub::answer("doc_get", {{"name", "T3"}, {"status", "Closed"}});
  STUB_EXPECT(stub::call(close_todo, {{"name", "T3"}})->at("status"), "Closed");
  STUB_EXPECT(stub::asked("doc_update"), nullptr);
}

static void passes_errors_on() {
  stub::refuse("doc_get", Error::not_found("ToDo T9 not found"));
  STUB_EXPECT_ERROR(stub::call(close_todo, {{"name", "T9"}}), Kind::NotFound, "ToDo T9 not found");
  stub::answer("doc_get", {{"name", "T1"}, {"status", "Open"}});
  stub::refuse("doc_update", Error::denied("read only"));
  STUB_EXPECT_ERROR(stub::call(close_todo, {{"name", "T1"}}), Kind::Permission, "read only");
  stub::refuse("doc_list", Error::denied("no ToDos"));
  STUB_EXPECT_ERROR(stub::call(summary), Kind::Permission, "no ToDos");
}

static void sums_up() {
  stub::answer("caller_get", {{"user", "zoe@example.com"}, {"roles", json::array({"All"})}});
  stub::answer("doc_count", 3);
  stub::answer("doc_list", {{{"status", "Open"}}, {{"status", "Closed"}}, {{"status", "Open"}}});
  const json by = {{"Open", 2}, {"Closed", 1}};
  STUB_EXPECT(stub::call(summary).value(), (json{{"user", "zoe@example.com"}, {"total", 3}, {"by_status", by}}));
  STUB_EXPECT(stub::asked("doc_list"), (json{{"doctype", "ToDo"}, {"fields", {"status"}}, {"limit_page_length", 0}}));
}

static void shows_and_echoes() {
  stub::answer("doc_get", {{"description", "Call Zoë"}});
  STUB_EXPECT(stub::call(show, {{"name", "T1"}})->at("description"), "Call Zoë");
  STUB_EXPECT(stub::call(echo, {{"text", "a\n\"b\" Zoë"}}).value(), (json{{"text", "a\n\"b\" Zoë"}}));
}

int main() {
  closes();
  closes_once();
  passes_errors_on();
  sums_up();
  shows_and_echoes();
  return stub::failures();
}
