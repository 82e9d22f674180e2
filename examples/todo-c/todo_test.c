// Tests of the plugin, on a real site: armature plugin test.
#include "armature_test.h"

// todo stores a ToDo.
static am_val todo(am_str description, am_str status) {
  am_json fields = am_object();
  am_set_text(&fields, "description", description);
  am_set_text(&fields, "status", status);
  return am_must(am_doc_insert("ToDo", am_done(&fields)));
}

AM_TEST(closes) {
  am_val made = todo(AM("milk"), AM("Open"));
  am_val closed = am_must(am_test_call("acme.todo.close", am_pick(made, "name")));
  AM_EXPECT_TEXT(am_get(closed, "status"), "Closed");
  AM_EXPECT_TEXT(am_get(am_must(am_doc_get("ToDo", am_get_text(made, "name"))), "status"), "Closed");
}

AM_TEST(closes_once) {
  am_val made = todo(AM("milk"), AM("Closed"));
  am_must(am_test_call("acme.todo.close", am_pick(made, "name")));
  am_val after = am_must(am_doc_get("ToDo", am_get_text(made, "name")));
  AM_EXPECT_TEXT(am_get(after, "modified"), am_zero(am_get_text(made, "modified")));
}

AM_TEST(close_of_nothing) {
  am_result r = am_test_call("acme.todo.close", am_parse(AM("{\"name\": \"T9\"}")));
  AM_EXPECT_ERROR(r, AM_NOT_FOUND, "ToDo T9 not found");
}

AM_TEST(a_get_keeps_nothing) {
  am_val made = todo(AM("milk"), AM("Open"));
  am_must(am_test_call_by("GET", "acme.todo.show", am_pick(made, "name")));
  AM_EXPECT(am_test_call_by("DELETE", "acme.todo.show", am_pick(made, "name")).kind == AM_PERMISSION);
}

AM_TEST(others_do_not_see_it) {
  am_val made = todo(AM("milk"), AM("Open"));
  am_act_as("Guest", am_null());
  AM_EXPECT(am_test_call("acme.todo.close", am_pick(made, "name")).kind == AM_PERMISSION);
}

AM_TEST(summary) {
  todo(AM("milk"), AM("Open")), todo(AM("bread"), AM("Closed")), todo(AM("jam"), AM("Open"));
  AM_EXPECT_JSON(am_must(am_test_call_by("GET", "acme.todo.summary", am_null())),
                 "{\"user\": \"Administrator\", \"total\": 3, \"by_status\": {\"Open\": 2, \"Closed\": 1}}");
}

AM_TEST(show_and_echo) {
  am_val made = todo(AM("Call Zoë"), AM("Open"));
  am_val shown = am_must(am_test_call_by("GET", "acme.todo.show", am_pick(made, "name")));
  AM_EXPECT_TEXT(am_get(shown, "description"), "Call Zoë");
  AM_EXPECT_JSON(am_must(am_test_call("acme.todo.echo", am_parse(AM("{\"text\": \"a\\n\\\"b\\\" Zoë\"}")))), "{\"text\":\"a\\n\\\"b\\\" Zoë\"}");
}
