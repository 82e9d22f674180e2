// The conformance plugin in C; what each method does is described in
// ../../README.md.
#include "armature.h"

AM_METHOD("echo", echo) { return in; }

AM_METHOD("arguments", arguments) {
  long long sum = 0;
  for (am_iter i = am_items(am_get(in, "list")); am_next(&i);) sum += am_int(i.value);
  am_json out = am_object();
  am_set_text(&out, "text", am_join(am_get_text(in, "text"), AM("!")));
  am_set_int(&out, "count", am_get_int(in, "count") + 1);
  am_set_num(&out, "ratio", am_get_num(in, "ratio") / 2);
  am_set_bool(&out, "flag", !am_get_true(in, "flag"));
  am_set_int(&out, "sum", sum);
  am_set_text(&out, "inner", am_get_text(am_get(in, "inner"), "text"));
  am_set_bool(&out, "absent", !am_has(am_get(in, "absent")));
  return am_done(&out);
}

AM_METHOD("find", find) {
  am_query q = am_from("ToDo");
  am_where_text(&q, "status", "=", am_get_text(in, "status"));
  am_val count = am_must(am_count(&q));

  q = am_from("ToDo");
  am_json priorities = am_array();
  am_add_text(&priorities, AM("High"));
  am_add_text(&priorities, AM("Medium"));
  am_field(&q, "name");
  am_field(&q, "description");
  am_where_text(&q, "status", "=", am_get_text(in, "status"));
  am_where(&q, "priority", "in", am_done(&priorities));
  q.order_by = "description asc";
  q.limit = (int)am_get_int(in, "limit");
  am_json descriptions = am_array();
  for (am_iter i = am_items(am_must(am_list(&q))); am_next(&i);) am_add(&descriptions, am_get(i.value, "description"));

  am_json out = am_object();
  am_set(&out, "count", count);
  am_set(&out, "descriptions", am_done(&descriptions));
  return am_done(&out);
}

static am_val closed(void) {
  am_json fields = am_object();
  am_set_text(&fields, "status", AM("Closed"));
  return am_done(&fields);
}

AM_METHOD("transfer", transfer) {
  am_json fields = am_object();
  am_set_text(&fields, "description", am_get_text(in, "text"));
  am_val made = am_must(am_doc_insert("ToDo", am_done(&fields)));
  am_val changed = am_must(am_doc_update("ToDo", am_get_text(in, "name"), closed()));
  if (am_get_true(in, "fail")) am_throw(AM_VALIDATION, "TransferError", AM("fail was asked for"));
  am_json out = am_object();
  am_set(&out, "made", am_get(made, "name"));
  am_set(&out, "closed", am_get(changed, "status"));
  return am_done(&out);
}

static void item(am_json *items, am_str name, int qty) {
  am_json row = am_object();
  am_set_text(&row, "item", name);
  am_set_int(&row, "qty", qty);
  am_add(items, am_done(&row));
}

AM_METHOD("order", order) {
  const char *doctype = "Conformance Order";
  am_json items = am_array(), fields = am_object();
  item(&items, AM("a"), 3);
  item(&items, AM("b"), 4);
  am_set_text(&fields, "title", am_get_text(in, "title"));
  am_set(&fields, "items", am_done(&items));
  am_val inserted = am_must(am_doc_insert(doctype, am_done(&fields)));
  am_str name = am_get_text(inserted, "name");
  am_val submitted = am_must(am_doc_submit(doctype, name));
  am_val cancelled = am_must(am_doc_cancel(doctype, name));
  am_must(am_doc_delete(doctype, name));
  long long rows = 0, qty = 0;
  for (am_iter i = am_items(am_get(inserted, "items")); am_next(&i); rows++) qty += am_get_int(i.value, "qty");
  am_json out = am_object();
  am_set_int(&out, "inserted", am_get_int(inserted, "docstatus"));
  am_set_int(&out, "submitted", am_get_int(submitted, "docstatus"));
  am_set_int(&out, "cancelled", am_get_int(cancelled, "docstatus"));
  am_set_int(&out, "items", rows);
  am_set_int(&out, "qty", qty);
  am_set_int(&out, "gone", am_doc_get(doctype, name).kind);
  return am_done(&out);
}

static am_result get(am_val in) { return am_doc_get(am_zero(am_get_text(in, "doctype")), am_get_text(in, "name")); }

AM_METHOD("show", show) { return am_must(get(in)); }

AM_METHOD("close", close_todo) { return am_must(am_doc_update("ToDo", am_get_text(in, "name"), closed())); }

AM_METHOD("check", check) {
  am_val doc = am_get(in, "doc"), before = am_get(in, "before");
  am_json changes = am_object();
  if (am_is(am_get_text(doc, "description"), "refuse me")) am_throw(AM_VALIDATION, "RefusedError", AM("The guest refuses this"));
  if (am_is(am_get_text(before, "status"), "Closed") && am_is(am_get_text(doc, "status"), "Open"))
    am_throw(AM_VALIDATION, "ReopenError", AM("What is closed stays closed"));
  if (!am_has(before) && am_starts(am_get_text(doc, "description"), "urgent")) am_set_text(&changes, "priority", AM("High"));
  return am_done(&changes);
}

static am_val caught(am_result r) {
  am_json out = am_object();
  am_set_int(&out, "kind", r.kind);
  am_set_text(&out, "type", r.type);
  am_set_text(&out, "message", r.message);
  return am_done(&out);
}

AM_METHOD("attempt", attempt) {
  am_result r = get(in);
  if (r.kind) return caught(r);
  am_json out = am_object();
  am_set_int(&out, "kind", 0);
  am_set(&out, "name", am_get(r.value, "name"));
  return am_done(&out);
}

AM_METHOD("raise", raise_error) {
  am_fail((am_result){(int)am_get_int(in, "kind"), {0, 0}, am_get_text(in, "type"), am_get_text(in, "message")});
}

AM_METHOD("crash", crash) { __builtin_trap(); }

static int calls;

AM_METHOD("tally", tally) {
  am_json out = am_object();
  am_set_int(&out, "n", ++calls);
  return am_done(&out);
}

AM_METHOD("relay", relay) {
  am_result r = am_call(am_get_text(in, "method"), am_get(in, "args"));
  if (r.kind) return caught(r);
  am_json out = am_object();
  am_set_int(&out, "kind", 0);
  am_set(&out, "result", r.value);
  return am_done(&out);
}

AM_METHOD("who", who) { return am_must(am_caller()); }

AM_METHOD("setting", setting) { return am_must(am_config(am_get_text(in, "key"))); }

AM_METHOD("keep", keep) {
  am_str key = am_get_text(in, "key");
  am_must(am_kv_set(key, am_get(in, "value"), am_get_int(in, "ttl")));
  return am_must(am_kv_get(key));
}

AM_METHOD("recall", recall) { return am_must(am_kv_get(am_get_text(in, "key"))); }

AM_METHOD("forget", forget) { return am_must(am_kv_delete(am_get_text(in, "key"))); }

AM_METHOD("say", say) {
  am_json attributes = am_object();
  am_set(&attributes, "n", am_get(in, "n"));
  am_log_with((int)am_get_int(in, "level"), am_get_text(in, "message"), am_done(&attributes));
  return am_null();
}

AM_METHOD("clock", clock_now) {
  char b[16], hex[32];
  am_random(b, sizeof b);
  for (int i = 0; i < 32; i++) hex[i] = "0123456789abcdef"[(unsigned char)b[i / 2] >> (i % 2 ? 0 : 4) & 15];
  am_json out = am_object();
  am_set_int(&out, "now", am_now());
  am_set_text(&out, "random", (am_str){hex, sizeof hex});
  return am_done(&out);
}

AM_METHOD("asked", asked) {
  am_val request = am_must(am_request());
  am_json out = am_object();
  am_set(&out, "method", am_get(request, "method"));
  am_set(&out, "path", am_get(request, "path"));
  am_set(&out, "query", am_get(request, "query"));
  return am_done(&out);
}

AM_METHOD("reply", reply) {
  am_json headers = am_object();
  am_set_text(&headers, "content-type", AM("text/plain"));
  am_set_text(&headers, "x-guest", AM("yes"));
  return am_must(am_respond(am_get_int(in, "status"), am_done(&headers), am_get_text(in, "body")));
}

AM_METHOD("tell", tell) {
  am_str message = am_get_text(in, "message");
  if (!am_has(am_get(in, "title"))) return am_must(am_tell(message));
  return am_must(am_tell_as(message, am_get_text(in, "title"), am_get_text(in, "indicator")));
}

AM_METHOD("reach", reach) {
  am_json request = am_object();
  am_set(&request, "url", am_get(in, "url"));
  am_result r = am_fetch(am_done(&request));
  if (r.kind) return caught(r);
  am_json out = am_object();
  am_set_int(&out, "kind", 0);
  am_set(&out, "status", am_get(r.value, "status"));
  return am_done(&out);
}

AM_METHOD("send", send_text) {
  am_json request = am_object(), headers = am_object();
  am_set_text(&headers, "content-type", AM("text/plain"));
  am_set_text(&headers, "x-guest", AM("yes"));
  am_set(&request, "url", am_get(in, "url"));
  am_set_text(&request, "method", AM("POST"));
  am_set(&request, "headers", am_done(&headers));
  am_set(&request, "body", am_get(in, "text"));
  am_result r = am_fetch(am_done(&request));
  if (r.kind) return caught(r);
  am_json out = am_object();
  am_set_int(&out, "kind", 0);
  am_set(&out, "status", am_get(r.value, "status"));
  am_set(&out, "type", am_get(am_get(r.value, "headers"), "content-type"));
  am_set(&out, "body", am_get(r.value, "body"));
  return am_done(&out);
}

AM_METHOD("connect", connect_app) {
  am_json request = am_object();
  am_set(&request, "app", am_get(in, "app"));
  am_set(&request, "url", am_get(in, "url"));
  if (am_get_true(in, "own")) am_set_text(&request, "as", AM("app"));
  am_result r = am_fetch_connected(am_done(&request));
  if (r.kind) return caught(r);
  am_json out = am_object();
  am_set_int(&out, "kind", 0);
  am_set(&out, "status", am_get(r.value, "status"));
  am_set(&out, "body", am_get(r.value, "body"));
  return am_done(&out);
}

AM_METHOD("verify", verify) {
  am_json secrets = am_array();
  am_add_text(&secrets, am_get_text(in, "other"));
  am_add_text(&secrets, am_get_text(in, "secret"));
  am_result r = am_ask_webhook_verify((am_webhook_verify_request){.secrets = am_done(&secrets)});
  if (r.kind) return caught(r);
  am_webhook_verify_answer a = am_read_webhook_verify(r.value);
  am_json out = am_object();
  am_set_int(&out, "kind", 0);
  am_set_text(&out, "id", a.id);
  am_set_int(&out, "timestamp", a.timestamp);
  return am_done(&out);
}

AM_METHOD("letter", letter) {
  am_json recipients = am_array();
  am_add_text(&recipients, am_get_text(in, "to"));
  am_result r = am_ask_sendmail((am_sendmail_request){
      .recipients = am_done(&recipients), .subject = am_get_text(in, "subject"), .text = am_get_text(in, "text")});
  if (r.kind) return caught(r);
  am_json out = am_object();
  am_set_int(&out, "kind", 0);
  long long jobs = 0;
  for (am_iter i = am_items(am_get(r.value, "jobs")); am_next(&i);) jobs++;
  am_set_int(&out, "jobs", jobs);
  return am_done(&out);
}

AM_METHOD("spin", spin) {
  for (volatile int i = 0;; i++);
}
