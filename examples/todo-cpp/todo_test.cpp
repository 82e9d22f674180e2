// Tests of the plugin, on a real site: armature plugin test.
#include "armature_test.hpp"

using namespace armature;

static Document todo(const char* description, const char* status) {
  return insert("ToDo", {{"description", description}, {"status", status}}).value();
}

ARMATURE_TEST(closes) {
  const Document made = todo("milk", "Open");
  EXPECT_EQUAL(testing::call("acme.todo.close", {{"name", made.name()}}).value()["status"], "Closed");
  EXPECT_EQUAL(get("ToDo", made.name())->text("status"), "Closed");
}

ARMATURE_TEST(closes_once) {
  const Document made = todo("milk", "Closed");
  testing::call("acme.todo.close", {{"name", made.name()}}).value();
  EXPECT_EQUAL(get("ToDo", made.name())->text("modified"), made.text("modified"));
}

ARMATURE_TEST(close_of_nothing) {
  EXPECT_ERROR(testing::call("acme.todo.close", {{"name", "T9"}}), Kind::NotFound, "ToDo T9 not found");
}

ARMATURE_TEST(guests_may_not) {
  const Document made = todo("milk", "Open");
  testing::act_as("Guest");
  EXPECT(testing::call("acme.todo.close", {{"name", made.name()}}).error().kind == Kind::Permission);
}

ARMATURE_TEST(sums_up) {
  todo("milk", "Open"), todo("bread", "Closed"), todo("jam", "Open");
  const json by = {{"Open", 2}, {"Closed", 1}};
  EXPECT_EQUAL(testing::call("acme.todo.summary", {}, "GET").value(), (json{{"user", "Administrator"}, {"total", 3}, {"by_status", by}}));
}

ARMATURE_TEST(shows_and_echoes) {
  const Document made = todo("Call Zoë", "Open");
  EXPECT_EQUAL(testing::call("acme.todo.show", {{"name", made.name()}}, "GET").value()["description"], "Call Zoë");
  EXPECT_EQUAL(testing::call("acme.todo.echo", {{"text", "a\n\"b\" Zoë"}}).value(), (json{{"text", "a\n\"b\" Zoë"}}));
}
