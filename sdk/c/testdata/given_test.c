// What a test says of its site: the time, the randomness, who acts, the settings, and
// what the network answers.
#include "armature_test.h"

AM_TEST(time) {
  am_set_clock(1767323045000000);
  AM_EXPECT(am_now() == 1767323045000000);
  am_json todo = am_object();
  am_set_text(&todo, "description", AM("x"));
  AM_EXPECT_TEXT(am_get(am_must(am_doc_insert("ToDo", am_done(&todo))), "date"), "2026-01-02");
}

AM_TEST(randomness) {
  char a[16], b[16], c[16];
  am_set_seed(1), am_random(a, 16);
  am_set_seed(1), am_random(b, 16);
  am_set_seed(2), am_random(c, 16);
  am_str first = {a, 16}, again = {b, 16}, other = {c, 16};
  AM_EXPECT(am_same(first, again) && !am_same(first, other));
}

AM_TEST(caller) {
  AM_EXPECT_TEXT(am_get(am_must(am_caller()), "user"), "Administrator");
  am_act_as("zoe@example.com", am_parse(AM("[\"Blogger\"]")));
  am_val zoe = am_must(am_caller());
  AM_EXPECT_TEXT(am_get(zoe, "user"), "zoe@example.com");
  int is = 0;
  for (am_iter i = am_items(am_get(zoe, "roles")); am_next(&i);) is |= am_is(am_text(i.value), "Blogger");
  AM_EXPECT(is);
  am_act_as("Guest", am_null());
  AM_EXPECT(am_doc_get("User", AM("Administrator")).kind == AM_PERMISSION);
}

AM_TEST(settings) {
  AM_EXPECT_JSON(am_must(am_config(AM("limit"))), "null");
  am_configure("limit", am_from_int(5));
  AM_EXPECT_INT(am_must(am_config(AM("limit"))), 5);
}

AM_TEST(network) {
  am_answer("https://x.example/", 404, AM("no"));
  am_json request = am_object();
  am_set_text(&request, "url", AM("https://x.example/"));
  am_val asked = am_done(&request);
  am_val answer = am_must(am_fetch(asked));
  AM_EXPECT_INT(am_get(answer, "status"), 404);
  AM_EXPECT(am_is(am_body(answer), "no"));
  AM_EXPECT_ERROR(am_fetch(asked), AM_UNAVAILABLE, "The test has not said what https://x.example/ answers");
  am_iter sent = am_items(am_fetched());
  AM_EXPECT(am_next(&sent) && am_next(&sent) && !am_next(&sent));
}

// What may be missing of a request is told from zero.
AM_TEST(requests) {
  for (int i = 0; i < 3; i++) {
    am_doc_insert_request r = {am_parse(AM("{\"doctype\": \"ToDo\", \"description\": \"x\"}"))};
    am_must(am_ask_doc_insert(r));
  }
  am_doc_list_request list = {AM("ToDo")};
  long long limit = 2;
  list.limit_page_length = &limit;
  am_iter rows = am_items(am_must(am_ask_doc_list(list)));
  AM_EXPECT(am_next(&rows) && am_next(&rows) && !am_next(&rows));
  limit = 0; // all
  rows = am_items(am_must(am_ask_doc_list(list)));
  AM_EXPECT(am_next(&rows) && am_next(&rows) && am_next(&rows) && !am_next(&rows));
  am_doc_count_request count = {AM("ToDo")};
  count.or_filters = am_parse(AM("[[\"status\", \"=\", \"Closed\"], [\"description\", \"=\", \"x\"]]"));
  AM_EXPECT_INT(am_must(am_ask_doc_count(count)), 3);
  am_query q = am_from("ToDo");
  am_or(&q, "status", "=", am_from_text(AM("Closed")));
  AM_EXPECT_INT(am_must(am_count(&q)), 0);
  AM_EXPECT(am_is(am_read_caller_get(am_must(am_caller())).user, "Administrator"));
}
