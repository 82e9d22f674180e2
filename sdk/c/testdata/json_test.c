// Tests of armature.h as a native program; sdk_test.go builds and runs it.
#include "armature.h"

#include "stubhost.h"

static am_str text(am_val v) { return (am_str){v.p, (int)(v.end - v.p)}; }

static const char *shown(am_val v) { return am_zero(text(v)); }

static void test_text(void) {
  am_val v = am_parse(AM(" [\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20ac\\ud83d\\ude00\", \"\\ud83d x\", \"Zo\xc3\xab\"] "));
  am_iter i = am_items(v);
  am_next(&i);
  stub_expect(am_zero(am_text(i.value)), "a\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  am_next(&i);
  stub_expect(am_zero(am_text(i.value)), "\xef\xbf\xbd x");
  am_next(&i);
  stub_expect(am_zero(am_text(i.value)), "Zo\xc3\xab");
  if (am_next(&i)) stub_expect("a fourth", "none");
  stub_expect(shown(am_from_text(AM("\"\\\x01\n\x7f"))), "\"\\\"\\\\\\u0001\\u000a\x7f\"");
}

static void test_members(void) {
  am_val v = am_parse(AM("{ \"a\" : {\"b\": [1, {\"c\": \"}\"}]} , \"n\\u0061me\":\"T1\",\"no\":null, \"t\":true,\"e\":{},\"l\":[]}"));
  stub_expect(shown(am_get(v, "a")), "{\"b\": [1, {\"c\": \"}\"}]}");
  stub_expect(am_zero(am_get_text(v, "name")), "T1");
  if (am_has(am_get(v, "no")) || am_has(am_get(v, "missing")) || !am_get_true(v, "t") || am_type(am_get(v, "missing")) != AM_ABSENT)
    stub_expect("has", "has");
  for (am_iter i = am_items(am_get(v, "e")); am_next(&i);) stub_expect("a member", "none");
  for (am_iter i = am_items(am_get(v, "l")); am_next(&i);) stub_expect("an element", "none");
  for (am_iter i = am_items(am_get(v, "t")); am_next(&i);) stub_expect("an element of true", "none");
}

static void number(const char *in, const char *want) {
  am_json j = am_object();
  am_set_num(&j, "n", am_num(am_parse(am_of(in))));
  stub_expect(shown(am_get(am_done(&j), "n")), want);
}

static void test_numbers(void) {
  number("0", "0");
  number("-12", "-12");
  number("2.5", "25e-1");
  number("-0.1", "-1e-1");
  number("1e-7", "1e-7");
  number("1e21", "1e21");
  number("\"3.25\"", "325e-2");
  number("123456789012", "123456789012");
  number("null", "0");
  if (am_int(am_parse(AM("9223372036854775807"))) != 9223372036854775807LL) stub_expect("most", "most");
  if (am_int(am_parse(AM("-9007199254740993"))) != -9007199254740993LL) stub_expect("exact", "exact");
  if (am_int(am_parse(AM("\"41\""))) != 41 || am_int(am_parse(AM("2.9"))) != 2 || am_int(am_parse(AM("[]"))) != 0) stub_expect("int", "int");
}

// An answer longer than the room there is for it, and an error that is.
AM_METHOD("long", longer) {
  am_result r = am_doc_get("ToDo", AM("T1"));
  return r.kind ? am_from_text(r.message) : r.value;
}

static void test_long(void) {
  char big[9000], body[9100];
  memset(big, 'x', sizeof big);
  big[0] = big[sizeof big - 2] = '"', big[sizeof big - 1] = 0;
  stub_answer("doc_get", big);
  stub_expect(stub_call(longer_export, "{}"), big);
  snprintf(body, sizeof body, "{\"exc_type\":\"X\",\"message\":%s}", big);
  stub_refuse("doc_get", AM_PERMISSION, body);
  stub_expect(stub_call(longer_export, "{}"), big);
}

// The body of a fetched page, sent on as the answer.
AM_METHOD("relay", relay) {
  am_str body = am_body(am_must(am_fetch(in)));
  return am_must(am_respond(200, am_null(), body));
}

static void relayed(const char *fetched, const char *answered) {
  stub_answer("http_fetch", fetched);
  stub_answer("respond", "null");
  stub_call(relay_export, "{\"url\":\"https://x\"}");
  stub_expect(stub_asked("respond"), answered);
}

static void test_bodies(void) {
  relayed("{\"body\":\"Zo\xc3\xab\"}", "{\"status\":200,\"body\":\"Zo\xc3\xab\"}");
  relayed("{\"body_base64\":\"Zm9vYg==\"}", "{\"status\":200,\"body\":\"foob\"}");
  relayed("{}", "{\"status\":200,\"body\":\"\"}");
  relayed("{\"body_base64\":\"/w==\"}", "{\"status\":200,\"body_base64\":\"/w==\"}");
  relayed("{\"body_base64\":\"//4=\"}", "{\"status\":200,\"body_base64\":\"//4=\"}");
  relayed("{\"body_base64\":\"/wABIGI+\"}", "{\"status\":200,\"body_base64\":\"/wABIGI+\"}");
  // Half a character, half a pair, too long a form, beyond the last one.
  relayed("{\"body_base64\":\"YcM=\"}", "{\"status\":200,\"body_base64\":\"YcM=\"}");
  relayed("{\"body_base64\":\"7aCA\"}", "{\"status\":200,\"body_base64\":\"7aCA\"}");
  relayed("{\"body_base64\":\"4ICA\"}", "{\"status\":200,\"body_base64\":\"4ICA\"}");
  relayed("{\"body_base64\":\"9JCAgA==\"}", "{\"status\":200,\"body_base64\":\"9JCAgA==\"}");
}

int main(void) {
  test_bodies();
  test_text();
  test_members();
  test_numbers();
  test_long();
  return stub_failures();
}
