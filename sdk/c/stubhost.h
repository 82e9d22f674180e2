/* A stand-in for the server, for tests of plugins that run as native programs:
 *
 *   #include "todo.c"
 *   #include "stubhost.h"
 *   int main(void) {
 *     stub_answer("doc_get", "{\"name\": \"T1\", \"status\": \"Open\"}");
 *     stub_answer("doc_update", "{\"name\": \"T1\", \"status\": \"Closed\"}");
 *     stub_expect(stub_call(close_todo_export, "{\"name\": \"T1\"}"), "{\"name\": \"T1\", \"status\": \"Closed\"}");
 *     stub_expect(stub_asked("doc_update"), "{\"doctype\":\"ToDo\",\"name\":\"T1\",\"doc\":{\"status\":\"Closed\"}}");
 *     return stub_failures();
 *   }
 *
 * A test says beforehand what each function of the host answers, in order; what
 * it does not say is answered by null, and everything asked can be looked at. The
 * stub knows no DocTypes and no permissions. This header needs a C library. */
#ifndef ARMATURE_STUBHOST_H
#define ARMATURE_STUBHOST_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armature.h"

#define STUB_FN static __attribute__((unused))

typedef struct {
  const char *name, *text;
  int kind; /* of an error; 0: an answer */
} stub_staged;

static struct {
  stub_staged staged[64];
  int n;
  struct {
    const char *name;
    char *request;
  } asked[256];
  int asks;
  const char *input;
  char *output, *rest, *log;
  int left, kind, failures;
  long long now;
  jmp_buf end;
} stub;

char *am_alloc(int n) { return (char *)calloc(1, (size_t)n + 1); }

/* stub_answer stages what a function of the host answers next, as JSON. */
STUB_FN void stub_answer(const char *name, const char *json) { stub.staged[stub.n++] = (stub_staged){name, json, 0}; }

/* stub_refuse stages an error: a kind, and {"exc_type", "message"} as JSON. */
STUB_FN void stub_refuse(const char *name, int kind, const char *json) { stub.staged[stub.n++] = (stub_staged){name, json, kind}; }

static char *stub_copy(const char *p, int n) {
  char *s = (char *)calloc(1, (size_t)n + 1);
  memcpy(s, p, (size_t)n);
  return s;
}

/* stub_call runs an export with arguments as JSON, and is its output; after an
 * error its body, and stub_kind() is the kind. */
STUB_FN const char *stub_call(void (*method)(int), const char *args) {
  stub.input = args, stub.output = stub_copy("null", 4), stub.kind = 0, stub.asks = 0;
  if (!setjmp(stub.end)) method((int)strlen(args));
  stub.n = 0;
  return stub.output;
}

STUB_FN int stub_kind(void) { return stub.kind; }

/* stub_asked is the latest request to a function of the host in the last call; ""
 * if there was none. */
STUB_FN const char *stub_asked(const char *name) {
  for (int i = stub.asks - 1; i >= 0; i--)
    if (!strcmp(stub.asked[i].name, name)) return stub.asked[i].request;
  return "";
}

/* stub_expect compares texts and counts a failure. */
#define stub_expect(got, want) stub_expect_(__FILE__, __LINE__, got, want)
STUB_FN void stub_expect_(const char *file, int line, const char *got, const char *want) {
  if (!strcmp(got, want)) return;
  fprintf(stderr, "%s:%d: got %s\n  want %s\n", file, line, got, want);
  stub.failures++;
}

/* stub_failures is how many expectations failed: the status of main. */
STUB_FN int stub_failures(void) { return stub.failures; }

static int stub_deliver(char *p, int cap, const char *text, int len) {
  memcpy(p, text, (size_t)(len < cap ? len : cap));
  return len;
}

int am_host_input(char *p, int cap) { return stub_deliver(p, cap, stub.input, (int)strlen(stub.input)); }
void am_host_output(const char *p, int len) { stub.output = stub_copy(p, len); }
void am_host_throw(int kind, const char *p, int len) {
  stub.kind = kind, stub.output = stub_copy(p, len);
  longjmp(stub.end, 1);
}
int am_host_take(char *p, int cap) {
  int left = stub_deliver(p, cap, stub.rest, stub.left), n = left < cap ? left : cap;
  stub.rest += n, stub.left -= n;
  return left;
}
void am_host_log(int level, const char *p, int len) { (void)level, stub.log = stub_copy(p, len); }
long long am_host_now(void) { return stub.now; }
void am_host_random(char *p, int len) { memset(p, 7, (size_t)len); }

static int stub_host(const char *name, const char *in, int in_len, char *out, int out_cap) {
  stub_staged answer = {name, "null", 0};
  stub.asked[stub.asks].name = name, stub.asked[stub.asks++].request = stub_copy(in, in_len);
  for (int i = 0; i < stub.n; i++)
    if (stub.staged[i].name && !strcmp(stub.staged[i].name, name)) {
      answer = stub.staged[i], stub.staged[i].name = 0;
      break;
    }
  int len = (int)strlen(answer.text), given = answer.kind ? 0 : len < out_cap ? len : out_cap;
  memcpy(out, answer.text, (size_t)given);
  stub.rest = stub_copy(answer.text + given, len - given), stub.left = len - given;
  return answer.kind ? -answer.kind : len;
}

#define STUB_CAPABILITY(name) \
  int am_host_##name(const char *in, int in_len, char *out, int out_cap) { return stub_host(#name, in, in_len, out, out_cap); }
STUB_CAPABILITY(doc_get)
STUB_CAPABILITY(doc_list)
STUB_CAPABILITY(doc_count)
STUB_CAPABILITY(doc_insert)
STUB_CAPABILITY(doc_update)
STUB_CAPABILITY(doc_delete)
STUB_CAPABILITY(doc_submit)
STUB_CAPABILITY(doc_cancel)
STUB_CAPABILITY(method_call)
STUB_CAPABILITY(caller_get)
STUB_CAPABILITY(config_get)
STUB_CAPABILITY(kv_get)
STUB_CAPABILITY(kv_set)
STUB_CAPABILITY(kv_delete)
STUB_CAPABILITY(http_fetch)
STUB_CAPABILITY(connected_request)
STUB_CAPABILITY(request_get)
STUB_CAPABILITY(respond)
STUB_CAPABILITY(enqueue)

#endif
