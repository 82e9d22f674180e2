// Tests of todo.c as a native program, without a server: armature plugin test.
#include "todo.c"

#include "stubhost.h"

static void test_close(void) {
  stub_answer("doc_get", "{\"name\":\"T1\",\"status\":\"Open\"}");
  stub_answer("doc_update", "{\"name\":\"T1\",\"status\":\"Closed\"}");
  stub_expect(stub_call(close_todo_export, "{\"name\": \"T1\"}"), "{\"name\":\"T1\",\"status\":\"Closed\"}");
  stub_expect(stub_asked("doc_update"), "{\"doctype\":\"ToDo\",\"name\":\"T1\",\"doc\":{\"status\":\"Closed\"}}");
}

static void test_close_twice_writes_once(void) {
  stub_answer("doc_get", "{\"name\":\"T3\",\"status\":\"Closed\"}");
  stub_call(close_todo_export, "{\"name\": \"T3\"}");
  stub_expect(stub_asked("doc_update"), "");
}

static void test_close_missing(void) {
  stub_refuse("doc_get", AM_NOT_FOUND, "{\"exc_type\":\"DoesNotExistError\",\"message\":\"ToDo T9 not found\"}");
  stub_expect(stub_call(close_todo_export, "{\"name\": \"T9\"}"), "{\"exc_type\":\"DoesNotExistError\",\"message\":\"ToDo T9 not found\"}");
  if (stub_kind() != AM_NOT_FOUND) stub_expect("another kind", "AM_NOT_FOUND");
}

static void test_summary(void) {
  stub_answer("caller_get", "{\"user\":\"zoe@example.com\"}");
  stub_answer("doc_count", "3");
  stub_answer("doc_list", "[{\"status\":\"Open\"}, {\"status\":\"Closed\"}, {\"status\":\"Open\"}]");
  stub_expect(stub_call(summary_export, "{}"), "{\"user\":\"zoe@example.com\",\"total\":3,\"by_status\":{\"Open\":2,\"Closed\":1}}");
  stub_expect(stub_asked("doc_list"), "{\"doctype\":\"ToDo\",\"fields\":[\"status\"],\"limit_page_length\":0}");
}

static void test_echo(void) {
  stub_expect(stub_call(echo_export, "{\"text\":\"a\\n\\\"b\\\" Zoë\"}"), "{\"text\":\"a\\n\\\"b\\\" Zoë\"}");
}

static void test_show(void) {
  stub_answer("doc_get", "{\"name\":\"T1\",\"description\":\"Call Zoë\"}");
  stub_expect(stub_call(show_export, "{\"name\":\"T1\"}"), "{\"name\":\"T1\",\"description\":\"Call Zoë\"}");
}

int main(void) {
  test_close();
  test_close_twice_writes_once();
  test_close_missing();
  test_summary();
  test_echo();
  test_show();
  return stub_failures();
}
