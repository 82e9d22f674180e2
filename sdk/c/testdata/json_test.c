// Tests of armature.h: armature plugin test.
#include "armature_test.h"

static const char *shown(am_val v) { return am_zero(am_shown_(v)); }

static void same(const char *got, const char *want) { AM_EXPECT_TEXT(am_from_text(am_of(got)), want); }

AM_TEST(text) {
  am_val v = am_parse(AM(" [\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20ac\\ud83d\\ude00\", \"\\ud83d x\", \"Zo\xc3\xab\"] "));
  am_iter i = am_items(v);
  am_next(&i);
  same(am_zero(am_text(i.value)), "a\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  am_next(&i);
  same(am_zero(am_text(i.value)), "\xef\xbf\xbd x");
  am_next(&i);
  same(am_zero(am_text(i.value)), "Zo\xc3\xab");
  if (am_next(&i)) AM_EXPECT(!"a fourth");
  same(shown(am_from_text(AM("\"\\\x01\n\x7f"))), "\"\\\"\\\\\\u0001\\u000a\x7f\"");
}

AM_TEST(members) {
  am_val v = am_parse(AM("{ \"a\" : {\"b\": [1, {\"c\": \"}\"}]} , \"n\\u0061me\":\"T1\",\"no\":null, \"t\":true,\"e\":{},\"l\":[]}"));
  same(shown(am_get(v, "a")), "{\"b\": [1, {\"c\": \"}\"}]}");
  same(am_zero(am_get_text(v, "name")), "T1");
  if (am_has(am_get(v, "no")) || am_has(am_get(v, "missing")) || !am_get_true(v, "t") || am_type(am_get(v, "missing")) != AM_ABSENT)
    AM_EXPECT(!"has");
  for (am_iter i = am_items(am_get(v, "e")); am_next(&i);) AM_EXPECT(!"a member");
  for (am_iter i = am_items(am_get(v, "l")); am_next(&i);) AM_EXPECT(!"an element");
  for (am_iter i = am_items(am_get(v, "t")); am_next(&i);) AM_EXPECT(!"an element of true");
}

static void number(const char *in, const char *want) {
  am_json j = am_object();
  am_set_num(&j, "n", am_num(am_parse(am_of(in))));
  same(shown(am_get(am_done(&j), "n")), want);
}

AM_TEST(numbers) {
  number("0", "0");
  number("-12", "-12");
  number("2.5", "25e-1");
  number("-0.1", "-1e-1");
  number("1e-7", "1e-7");
  number("1e21", "1e21");
  number("\"3.25\"", "325e-2");
  number("123456789012", "123456789012");
  number("null", "0");
  if (am_int(am_parse(AM("9223372036854775807"))) != 9223372036854775807LL) AM_EXPECT(!"most");
  if (am_int(am_parse(AM("-9007199254740993"))) != -9007199254740993LL) AM_EXPECT(!"exact");
  if (am_int(am_parse(AM("\"41\""))) != 41 || am_int(am_parse(AM("2.9"))) != 2 || am_int(am_parse(AM("[]"))) != 0) AM_EXPECT(!"int");
}

// An answer longer than the room there is for it, and an error that is.
AM_TEST(longer) {
  char big[9000];
  for (int i = 0; i < 9000; i++) big[i] = 'x';
  am_str text = {big, sizeof big};
  am_must(am_kv_set(AM("k"), am_from_text(text), 0));
  AM_EXPECT(am_same(am_text(am_must(am_kv_get(AM("k")))), text));
  am_result r = am_doc_get("ToDo", text);
  AM_EXPECT(r.kind == AM_NOT_FOUND && r.message.n > 9000);
}

// The body of a fetched page, sent on as the answer by plugin.c.
static void relayed(const char *member, const char *body) {
  am_json answer = am_object(), request = am_object();
  am_set_text(&answer, "url", AM("https://x.example/"));
  am_set_text(&answer, member, am_of(body));
  am_answer_with(am_done(&answer));
  am_set_text(&request, "method", AM("acme.check.relay"));
  am_set(&request, "args", am_parse(AM("{\"url\": \"https://x.example/\"}")));
  am_val reply = am_get(am_must(am_test_request(am_done(&request))), "reply");
  AM_EXPECT_TEXT(am_get(reply, member), body);
}

AM_TEST(bodies) {
  relayed("body", "Zo\xc3\xab");
  relayed("body", "");
  relayed("body_base64", "/w==");
  relayed("body_base64", "//4=");
  relayed("body_base64", "/wABIGI+");
  // Half a character, half a pair, too long a form, beyond the last one.
  relayed("body_base64", "YcM=");
  relayed("body_base64", "7aCA");
  relayed("body_base64", "4ICA");
  relayed("body_base64", "9JCAgA==");
}
