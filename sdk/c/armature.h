/* The Armature SDK for C: one header, no C library, nothing to link. README.md
 * beside it shows how it is used; the contract below it is ../abi/abi.md.
 *
 * A JSON value (am_val) is a piece of JSON text, so that what is not looked at is
 * never decoded. Memory is taken (am_alloc) and never given back: every call
 * starts from the state after loading, which gives back all of it.
 *
 * Outside WebAssembly the functions of the host are those of stubhost.h, so that
 * a plugin's methods can be tested as a native program.
 *
 * Every function is static: what a plugin does not reach is not in its module,
 * and what is not imported is no permission it asks for. */
#ifndef ARMATURE_H
#define ARMATURE_H

#ifdef __cplusplus
extern "C" {
#endif

#define AM_FN static __attribute__((unused))

/* ---- The host's functions, as abi.md has them ---- */

#ifdef __wasm__
#define AM_IMPORT(name) __attribute__((import_module("armature1"), import_name(name))) extern
#define AM_EXPORT(name) __attribute__((export_name(name)))
#else
#define AM_IMPORT(name) extern
#define AM_EXPORT(name)
#endif

#define AM_CAPABILITY(name) AM_IMPORT(#name) int am_host_##name(const char *in, int in_len, char *out, int out_cap)

AM_IMPORT("input") int am_host_input(char *p, int cap);
AM_IMPORT("output") void am_host_output(const char *p, int len);
AM_IMPORT("throw") __attribute__((noreturn)) void am_host_throw(int kind, const char *p, int len);
AM_IMPORT("take") int am_host_take(char *p, int cap);
AM_IMPORT("log") void am_host_log(int level, const char *p, int len);
AM_IMPORT("now") long long am_host_now(void);
AM_IMPORT("random") void am_host_random(char *p, int len);
AM_CAPABILITY(doc_get);
AM_CAPABILITY(doc_list);
AM_CAPABILITY(doc_count);
AM_CAPABILITY(doc_insert);
AM_CAPABILITY(doc_update);
AM_CAPABILITY(doc_delete);
AM_CAPABILITY(doc_submit);
AM_CAPABILITY(doc_cancel);
AM_CAPABILITY(method_call);
AM_CAPABILITY(caller_get);
AM_CAPABILITY(config_get);
AM_CAPABILITY(kv_get);
AM_CAPABILITY(kv_set);
AM_CAPABILITY(kv_delete);
AM_CAPABILITY(http_fetch);
AM_CAPABILITY(connected_request);
AM_CAPABILITY(request_get);
AM_CAPABILITY(respond);
AM_CAPABILITY(enqueue);

/* The kinds of errors, with the HTTP status that follows from each. */
enum {
  AM_INTERNAL = 1,           /* 500: a bug; the message is logged, not shown */
  AM_VALIDATION = 2,         /* 417: understood and refused by a rule */
  AM_AUTHENTICATION = 3,     /* 401: credentials are wrong */
  AM_PERMISSION = 4,         /* 403: the caller may not do this */
  AM_NOT_FOUND = 5,          /* 404: no such thing for this caller */
  AM_CONFLICT = 6,           /* 409: the name is taken */
  AM_GONE = 7,               /* 410: past its use */
  AM_TOO_LARGE = 8,          /* 413: over the limit */
  AM_UNSUPPORTED_MEDIA = 9,  /* 415: a content type that is not read */
  AM_TOO_MANY_REQUESTS = 10, /* 429: a budget is used up */
  AM_UNAVAILABLE = 11,       /* 503: try again later */
  AM_BAD_REQUEST = 12,       /* 400: malformed */
  AM_TIMEOUT = 13,           /* 504: took longer than its limit */
  AM_NOT_IMPLEMENTED = 14,   /* 501: this server cannot do it */
  AM_METHOD_NOT_ALLOWED = 15, /* 405: a known path without this verb */
  AM_EXHAUSTED = 16,         /* 500: a limit other than time is used up */
  AM_TRAP = 17               /* 500: the plugin died */
};

/* The levels of log lines. */
enum { AM_DEBUG = 0, AM_INFO = 1, AM_WARN = 2, AM_ERROR = 3 };

/* ---- Text and memory ---- */

/* am_str is text: UTF-8 with a length, not ended by a zero. */
typedef struct {
  const char *p;
  int n;
} am_str;

/* AM makes an am_str of a literal. */
#ifdef __cplusplus
#define AM(literal) (am_str{(literal), (int)sizeof(literal) - 1})
#else
#define AM(literal) ((am_str){(literal), (int)sizeof(literal) - 1})
#endif

AM_FN int am_length(const char *s) {
  int n = 0;
  while (s[n]) n++;
  return n;
}

/* am_of makes an am_str of text that a zero ends. */
AM_FN am_str am_of(const char *s) {
  am_str t = {s, am_length(s)};
  return t;
}

AM_FN int am_same(am_str a, am_str b) {
  if (a.n != b.n) return 0;
  for (int i = 0; i < a.n; i++)
    if (a.p[i] != b.p[i]) return 0;
  return 1;
}

AM_FN int am_is(am_str a, const char *b) { return am_same(a, am_of(b)); }

AM_FN int am_starts(am_str a, const char *b) {
  int n = am_length(b);
  am_str head = {a.p, n};
  return a.n >= n && am_same(head, am_of(b));
}

#ifdef __wasm__
extern char __heap_base;
static char *am_free_;

/* am_alloc is n bytes, for as long as the call goes on. Without memory left the
 * call ends as a trap. */
AM_FN char *am_alloc(int n) {
  if (!am_free_) am_free_ = &__heap_base;
  char *p = am_free_;
  unsigned long end = (unsigned long)p + (((unsigned long)n + 7) & ~7ul), have = __builtin_wasm_memory_size(0) << 16;
  if (n < 0 || end < (unsigned long)p) __builtin_trap();
  if (end > have && __builtin_wasm_memory_grow(0, (end - have + 65535) >> 16) == (unsigned long)-1) __builtin_trap();
  am_free_ = (char *)end;
  return p;
}
#else
char *am_alloc(int n);
#endif

AM_FN am_str am_join(am_str a, am_str b) {
  char *p = am_alloc(a.n + b.n);
  if (a.n) __builtin_memcpy(p, a.p, (unsigned long)a.n);
  if (b.n) __builtin_memcpy(p + a.n, b.p, (unsigned long)b.n);
  am_str t = {p, a.n + b.n};
  return t;
}

/* am_zero is text ended by a zero, for the names of DocTypes. */
AM_FN const char *am_zero(am_str s) {
  char *p = am_alloc(s.n + 1);
  if (s.n) __builtin_memcpy(p, s.p, (unsigned long)s.n);
  p[s.n] = 0;
  return p;
}

/* ---- Reading JSON. The host sends valid JSON only; text of another source is
 * not to be read with these. ---- */

/* am_val is one JSON value, as text; p is 0 for a value that is absent. */
typedef struct {
  const char *p;
  const char *end;
} am_val;

enum { AM_ABSENT, AM_NULL, AM_BOOL, AM_NUMBER, AM_TEXT, AM_ARRAY, AM_OBJECT };

AM_FN const char *am_space_(const char *p, const char *end) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) p++;
  return p;
}

/* am_skip_ is where the value at p ends. */
AM_FN const char *am_skip_(const char *p, const char *end) {
  int depth = 0;
  while (p < end) {
    char c = *p;
    if (c == '"') {
      for (p++; p < end && *p != '"'; p++)
        if (*p == '\\') p++;
      p = p < end ? p + 1 : end;
      if (!depth) return p;
    } else if (c == '{' || c == '[') {
      depth++, p++;
    } else if (c == '}' || c == ']') {
      if (!depth) return p;
      p++;
      if (!--depth) return p;
    } else if (!depth && (c == ',' || c == ':' || c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      return p;
    } else {
      p++;
    }
  }
  return end;
}

AM_FN am_val am_parse(am_str text) {
  const char *end = text.p + text.n, *p = am_space_(text.p, end);
  am_val v = {p, am_skip_(p, end)};
  return v;
}

AM_FN int am_type(am_val v) {
  if (!v.p || v.p == v.end) return AM_ABSENT;
  switch (*v.p) {
  case 'n': return AM_NULL;
  case 't':
  case 'f': return AM_BOOL;
  case '"': return AM_TEXT;
  case '[': return AM_ARRAY;
  case '{': return AM_OBJECT;
  }
  return AM_NUMBER;
}

/* am_has reports whether there is a value, and that it is not null. */
AM_FN int am_has(am_val v) { return am_type(v) > AM_NULL; }

AM_FN int am_hex_(const char *p) {
  int u = 0;
  for (int i = 0; i < 4; i++) {
    char c = p[i];
    u = u * 16 + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  return u;
}

/* am_text is a value's text, without quotes and escapes; empty for a value of
 * another type. */
AM_FN am_str am_text(am_val v) {
  am_str t = {"", 0};
  if (am_type(v) != AM_TEXT) return t;
  const char *p = v.p + 1, *end = v.end - 1;
  t.p = p, t.n = (int)(end - p);
  const char *q = p;
  while (q < end && *q != '\\') q++;
  if (q == end) return t;
  char *out = am_alloc(t.n);
  t.p = out;
  while (p < end) {
    if (*p != '\\') {
      *out++ = *p++;
      continue;
    }
    char c = p[1];
    p += 2;
    if (c != 'u') {
      *out++ = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c);
      continue;
    }
    int u = am_hex_(p);
    p += 4;
    if (u >= 0xd800 && u < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
      int low = am_hex_(p + 2);
      if (low >= 0xdc00 && low < 0xe000) u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00), p += 6;
    }
    if (u >= 0xd800 && u < 0xe000) u = 0xfffd; /* half a pair */
    if (u < 0x80) {
      *out++ = (char)u;
    } else if (u < 0x800) {
      *out++ = (char)(0xc0 | u >> 6), *out++ = (char)(0x80 | (u & 63));
    } else if (u < 0x10000) {
      *out++ = (char)(0xe0 | u >> 12), *out++ = (char)(0x80 | (u >> 6 & 63)), *out++ = (char)(0x80 | (u & 63));
    } else {
      *out++ = (char)(0xf0 | u >> 18), *out++ = (char)(0x80 | (u >> 12 & 63));
      *out++ = (char)(0x80 | (u >> 6 & 63)), *out++ = (char)(0x80 | (u & 63));
    }
  }
  t.n = (int)(out - t.p);
  return t;
}

/* am_num is a number; text that is one counts, because arguments from a query
 * string are text. true is 1, all else 0. */
AM_FN double am_num(am_val v) {
  int type = am_type(v);
  if (type == AM_BOOL) return *v.p == 't';
  if (type != AM_NUMBER && type != AM_TEXT) return 0;
  const char *p = v.p + (type == AM_TEXT), *end = v.end - (type == AM_TEXT);
  int negative = p < end && *p == '-', exponent = 0, sign = 1, power = 0;
  double d = 0;
  if (negative) p++;
  for (; p < end && *p >= '0' && *p <= '9'; p++) d = d * 10 + (*p - '0');
  if (p < end && *p == '.')
    for (p++; p < end && *p >= '0' && *p <= '9'; p++) d = d * 10 + (*p - '0'), exponent--;
  if (p < end && (*p | 32) == 'e') {
    p++;
    if (p < end && (*p == '-' || *p == '+')) sign = *p++ == '-' ? -1 : 1;
    for (; p < end && *p >= '0' && *p <= '9' && power < 1000; p++) power = power * 10 + (*p - '0');
  }
  exponent += sign * power;
  double scale = 1, base = 10;
  for (int e = exponent < 0 ? -exponent : exponent; e && scale < 1e300; e >>= 1, base *= base)
    if (e & 1) scale *= base;
  d = exponent < 0 ? d / scale : d * scale;
  return negative ? -d : d;
}

/* am_int is a whole number, exact in 64 bits, cut toward zero. */
AM_FN long long am_int(am_val v) {
  int type = am_type(v);
  const char *p = v.p + (type == AM_TEXT), *end = v.end - (type == AM_TEXT);
  if (type == AM_NUMBER || type == AM_TEXT) {
    unsigned long long u = 0;
    int negative = p < end && *p == '-';
    if (negative) p++;
    for (; p < end && *p >= '0' && *p <= '9'; p++) u = u * 10 + (unsigned long long)(*p - '0');
    if (p == end) return (long long)(negative ? 0 - u : u);
  }
  double d = am_num(v);
  return d >= 9.2e18 || d <= -9.2e18 ? 0 : (long long)d;
}

/* am_true is a check: true, or a number other than 0. */
AM_FN int am_true(am_val v) { return am_num(v) != 0; }

/* am_iter goes through an array or an object:
 *   for (am_iter i = am_items(rows); am_next(&i);) use(i.value); */
typedef struct {
  am_val key; /* of an object's member */
  am_val value;
  const char *p, *end;
  int object;
} am_iter;

AM_FN am_iter am_items(am_val v) {
  int type = am_type(v);
  am_iter i = {{0, 0}, {0, 0}, v.p + 1, v.end - 1, type == AM_OBJECT};
  if (type != AM_ARRAY && type != AM_OBJECT) i.p = i.end = 0;
  return i;
}

AM_FN int am_next(am_iter *i) {
  i->p = am_space_(i->p, i->end);
  if (i->p < i->end && *i->p == ',') i->p = am_space_(i->p + 1, i->end);
  if (i->p >= i->end) return 0;
  if (i->object) {
    i->key.p = i->p;
    i->key.end = i->p = am_skip_(i->p, i->end);
    i->p = am_space_(am_space_(i->p, i->end) + 1, i->end);
  }
  i->value.p = i->p;
  i->value.end = i->p = am_skip_(i->p, i->end);
  return 1;
}

/* am_get is a member of an object; absent if there is none. */
AM_FN am_val am_get(am_val object, const char *name) {
  am_val found = {0, 0};
  if (am_type(object) == AM_OBJECT)
    for (am_iter i = am_items(object); am_next(&i);)
      if (am_is(am_text(i.key), name)) found = i.value;
  return found;
}

AM_FN am_str am_get_text(am_val object, const char *name) { return am_text(am_get(object, name)); }
AM_FN long long am_get_int(am_val object, const char *name) { return am_int(am_get(object, name)); }
AM_FN double am_get_num(am_val object, const char *name) { return am_num(am_get(object, name)); }
AM_FN int am_get_true(am_val object, const char *name) { return am_true(am_get(object, name)); }

/* ---- Writing JSON ---- */

/* am_json is an object or an array that is being written. */
typedef struct {
  char *p;
  int n, cap;
  char close;
} am_json;

AM_FN void am_write_(am_json *j, const char *p, int n) {
  if (j->n + n > j->cap) {
    int cap = (j->cap + n) * 2 + 64;
    char *more = am_alloc(cap);
    if (j->n) __builtin_memcpy(more, j->p, (unsigned long)j->n);
    j->p = more, j->cap = cap;
  }
  if (n) __builtin_memcpy(j->p + j->n, p, (unsigned long)n);
  j->n += n;
}

AM_FN am_json am_object(void) {
  am_json j = {0, 0, 0, '}'};
  am_write_(&j, "{", 1);
  return j;
}

AM_FN am_json am_array(void) {
  am_json j = {0, 0, 0, ']'};
  am_write_(&j, "[", 1);
  return j;
}

/* am_done ends an object or an array and gives it as a value. */
AM_FN am_val am_done(am_json *j) {
  am_write_(j, &j->close, 1);
  am_val v = {j->p, j->p + j->n};
  return v;
}

AM_FN void am_quote_(am_json *j, am_str s) {
  const char *hex = "0123456789abcdef";
  int from = 0;
  am_write_(j, "\"", 1);
  for (int i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    am_write_(j, s.p + from, i - from);
    from = i + 1;
    char esc[6] = {'\\', (char)c, '0', '0', hex[c >> 4], hex[c & 15]};
    if (c < 0x20) esc[1] = 'u';
    am_write_(j, esc, c < 0x20 ? 6 : 2);
  }
  am_write_(j, s.p + from, s.n - from);
  am_write_(j, "\"", 1);
}

AM_FN void am_comma_(am_json *j) {
  if (j->n > 1) am_write_(j, ",", 1);
}

AM_FN void am_key_(am_json *j, const char *name) {
  am_comma_(j);
  am_quote_(j, am_of(name));
  am_write_(j, ":", 1);
}

AM_FN void am_int_(am_json *j, long long i) {
  char digits[21];
  int at = 21;
  unsigned long long u = i < 0 ? 0 - (unsigned long long)i : (unsigned long long)i;
  do digits[--at] = (char)('0' + u % 10), u /= 10;
  while (u);
  if (i < 0) digits[--at] = '-';
  am_write_(j, digits + at, 21 - at);
}

/* am_num_ writes the fewest digits that am_num reads as the same number, at most
 * 17. What is neither finite nor JSON is null. */
AM_FN void am_num_(am_json *j, double d) {
  if (d != d || d - d != 0) {
    am_write_(j, "null", 4);
    return;
  }
  if (d > -1e15 && d < 1e15 && (double)(long long)d == d) {
    am_int_(j, (long long)d);
    return;
  }
  double a = d < 0 ? -d : d;
  int exponent = 0; /* a = m * 10^exponent with 1 <= m < 10 */
  double m = a;
  while (m >= 10) m /= 10, exponent++;
  while (m < 1) m *= 10, exponent--;
  for (int digits = 1; digits <= 17; digits++) {
    am_json t = {0, 0, 0, 0};
    double scale = 1, base = 10;
    int e = exponent - digits + 1;
    for (int k = e < 0 ? -e : e; k; k >>= 1, base *= base)
      if (k & 1) scale *= base;
    am_int_(&t, (long long)((e < 0 ? a * scale : a / scale) + 0.5));
    if (e) am_write_(&t, "e", 1), am_int_(&t, e);
    am_val v = {t.p, t.p + t.n};
    if (am_num(v) == a || digits == 17) {
      if (d < 0) am_write_(j, "-", 1);
      am_write_(j, t.p, t.n);
      return;
    }
  }
}

AM_FN void am_val_(am_json *j, am_val v) {
  if (v.p) am_write_(j, v.p, (int)(v.end - v.p));
  else am_write_(j, "null", 4);
}

/* am_set and its siblings write a member of an object; a value that is absent is
 * written as null. */
AM_FN void am_set(am_json *j, const char *name, am_val v) { am_key_(j, name), am_val_(j, v); }
AM_FN void am_set_text(am_json *j, const char *name, am_str s) { am_key_(j, name), am_quote_(j, s); }
AM_FN void am_set_int(am_json *j, const char *name, long long i) { am_key_(j, name), am_int_(j, i); }
AM_FN void am_set_num(am_json *j, const char *name, double d) { am_key_(j, name), am_num_(j, d); }
AM_FN void am_set_bool(am_json *j, const char *name, int yes) {
  am_key_(j, name);
  am_write_(j, yes ? "true" : "false", yes ? 4 : 5);
}

/* am_set_key_int is am_set_int where the name is text of the plugin's data. */
AM_FN void am_set_key_int(am_json *j, am_str name, long long i) {
  am_comma_(j);
  am_quote_(j, name);
  am_write_(j, ":", 1);
  am_int_(j, i);
}

/* am_add and its siblings write an element of an array. */
AM_FN void am_add(am_json *j, am_val v) { am_comma_(j), am_val_(j, v); }
AM_FN void am_add_text(am_json *j, am_str s) { am_comma_(j), am_quote_(j, s); }
AM_FN void am_add_int(am_json *j, long long i) { am_comma_(j), am_int_(j, i); }

AM_FN am_val am_null(void) { return am_parse(AM("null")); }

AM_FN am_val am_from_text(am_str s) {
  am_json j = {0, 0, 0, 0};
  am_quote_(&j, s);
  am_val v = {j.p, j.p + j.n};
  return v;
}

AM_FN am_val am_from_int(long long i) {
  am_json j = {0, 0, 0, 0};
  am_int_(&j, i);
  am_val v = {j.p, j.p + j.n};
  return v;
}

/* ---- A call: its input, its output, its errors ---- */

AM_FN am_val am_input(int n) {
  char *p = am_alloc(n);
  am_str text = {p, am_host_input(p, n)};
  return am_parse(text);
}

AM_FN void am_output(am_val v) {
  if (v.p) am_host_output(v.p, (int)(v.end - v.p));
}

/* am_throw ends the call with an error; everything it wrote is undone. type is
 * the client's exc_type, 0 for the kind's own. */
AM_FN __attribute__((noreturn)) void am_throw(int kind, const char *type, am_str message) {
  am_json j = am_object();
  if (type) am_set_text(&j, "exc_type", am_of(type));
  am_set_text(&j, "message", message);
  am_val v = am_done(&j);
  am_host_throw(kind, v.p, (int)(v.end - v.p));
}

/* am_result is what a call of the host came to: a value, or an error with a kind
 * other than 0. */
typedef struct {
  int kind;
  am_val value;
  am_str type, message; /* of an error */
} am_result;

/* am_fail ends the call with the error of a result. */
AM_FN __attribute__((noreturn)) void am_fail(am_result r) {
  am_throw(r.kind, am_zero(r.type), r.message);
}

/* am_must is the value of a result; an error ends the call. */
AM_FN am_val am_must(am_result r) {
  if (r.kind) am_fail(r);
  return r.value;
}

/* AM_METHOD defines a method of the plugin:
 *   AM_METHOD("acme.todo.close", close_todo) { ... return value; }
 * The body has the arguments as in. */
#define AM_METHOD(path, fn)                                                \
  static am_val fn(am_val in);                                             \
  AM_EXPORT(path) void fn##_export(int n) { am_output(fn(am_input(n))); } \
  static am_val fn(__attribute__((unused)) am_val in)

/* ---- Calling the host ---- */

typedef int (*am_capability)(const char *, int, char *, int);

/* am_ask sends a request to a function of the host. It is inlined, so that the
 * module imports those that are called and no other. */
static inline __attribute__((always_inline, unused)) am_result am_ask(am_capability call, am_val request) {
  enum { room = 4096 };
  am_result r = {0, {0, 0}, {"", 0}, {"", 0}};
  char *p = am_alloc(room);
  int n = call(request.p, (int)(request.end - request.p), p, room);
  if (n < 0) {
    r.kind = -n;
    n = am_host_take(p, room);
    if (n > room) {
      char *whole = am_alloc(n);
      __builtin_memcpy(whole, p, room);
      am_host_take(whole + room, n - room);
      p = whole;
    }
    am_str text = {p, n};
    am_val body = am_parse(text);
    r.type = am_get_text(body, "exc_type"), r.message = am_get_text(body, "message");
    return r;
  }
  if (n > room) {
    char *whole = am_alloc(n);
    __builtin_memcpy(whole, p, room);
    am_host_take(whole + room, n - room);
    p = whole;
  }
  am_str text = {p, n};
  r.value = am_parse(text);
  return r;
}

AM_FN am_val am_document_(const char *doctype, am_str name) {
  am_json j = am_object();
  am_set_text(&j, "doctype", am_of(doctype));
  am_set_text(&j, "name", name);
  return am_done(&j);
}

/* The document functions work as the caller of the method, in the transaction of
 * the request. A write that fails is undone by itself: a method may look at the
 * error and go on. */

AM_FN am_result am_doc_get(const char *doctype, am_str name) { return am_ask(am_host_doc_get, am_document_(doctype, name)); }

/* am_doc_insert stores a new document; fields is an object. The value is the
 * document as stored. */
AM_FN am_result am_doc_insert(const char *doctype, am_val fields) {
  am_json doc = {0, 0, 0, '}'}, j = am_object();
  am_val_(&doc, fields);
  doc.n--; /* its closing brace */
  am_set_text(&doc, "doctype", am_of(doctype));
  am_set(&j, "doc", am_done(&doc));
  return am_ask(am_host_doc_insert, am_done(&j));
}

/* am_doc_update changes the fields given and leaves the others; the value is the
 * whole document. */
AM_FN am_result am_doc_update(const char *doctype, am_str name, am_val fields) {
  am_json j = am_object();
  am_set_text(&j, "doctype", am_of(doctype));
  am_set_text(&j, "name", name);
  am_set(&j, "doc", fields);
  return am_ask(am_host_doc_update, am_done(&j));
}

AM_FN am_result am_doc_delete(const char *doctype, am_str name) { return am_ask(am_host_doc_delete, am_document_(doctype, name)); }
AM_FN am_result am_doc_submit(const char *doctype, am_str name) { return am_ask(am_host_doc_submit, am_document_(doctype, name)); }
AM_FN am_result am_doc_cancel(const char *doctype, am_str name) { return am_ask(am_host_doc_cancel, am_document_(doctype, name)); }

/* am_query says which documents to list, and what of them. */
typedef struct {
  const char *doctype;
  am_json fields, filters, or_filters;
  const char *order_by, *group_by; /* 0: the server's */
  int start, limit;                /* limit 0: the server's 20; AM_ALL: all */
} am_query;

enum { AM_ALL = -1 };

AM_FN am_query am_from(const char *doctype) {
  am_query q = {doctype, am_array(), am_array(), am_array(), 0, 0, 0, 0};
  return q;
}

AM_FN void am_field(am_query *q, const char *name) { am_add_text(&q->fields, am_of(name)); }

AM_FN am_val am_condition_(const char *field, const char *op, am_val value) {
  am_json f = am_array();
  am_add_text(&f, am_of(field));
  am_add_text(&f, am_of(op));
  am_add(&f, value);
  return am_done(&f);
}

/* am_where adds a condition that has to hold, am_or one of those of which one has
 * to hold. */
AM_FN void am_where(am_query *q, const char *field, const char *op, am_val value) { am_add(&q->filters, am_condition_(field, op, value)); }
AM_FN void am_where_text(am_query *q, const char *field, const char *op, am_str value) { am_where(q, field, op, am_from_text(value)); }
AM_FN void am_where_int(am_query *q, const char *field, const char *op, long long value) { am_where(q, field, op, am_from_int(value)); }
AM_FN void am_or(am_query *q, const char *field, const char *op, am_val value) { am_add(&q->or_filters, am_condition_(field, op, value)); }

/* am_list lists the documents the caller may see, as an array of rows. The query
 * is used up. */
AM_FN am_result am_list(am_query *q) {
  am_json j = am_object();
  am_set_text(&j, "doctype", am_of(q->doctype));
  if (q->fields.n > 1) am_set(&j, "fields", am_done(&q->fields));
  if (q->filters.n > 1) am_set(&j, "filters", am_done(&q->filters));
  if (q->or_filters.n > 1) am_set(&j, "or_filters", am_done(&q->or_filters));
  if (q->order_by) am_set_text(&j, "order_by", am_of(q->order_by));
  if (q->group_by) am_set_text(&j, "group_by", am_of(q->group_by));
  if (q->start) am_set_int(&j, "limit_start", q->start);
  if (q->limit) am_set_int(&j, "limit_page_length", q->limit < 0 ? 0 : q->limit);
  return am_ask(am_host_doc_list, am_done(&j));
}

/* am_count is the number of documents for which all conditions hold. The query is
 * used up. */
AM_FN am_result am_count(am_query *q) {
  am_json j = am_object();
  am_set_text(&j, "doctype", am_of(q->doctype));
  if (q->filters.n > 1) am_set(&j, "filters", am_done(&q->filters));
  return am_ask(am_host_doc_count, am_done(&j));
}

AM_FN am_val am_invocation_(am_str method, am_val args) {
  am_json j = am_object();
  am_set_text(&j, "method", method);
  if (am_has(args)) am_set(&j, "args", args);
  return am_done(&j);
}

/* am_call runs a whitelisted method in the same transaction for the same caller. */
AM_FN am_result am_call(am_str method, am_val args) { return am_ask(am_host_method_call, am_invocation_(method, args)); }

/* am_enqueue has a method run once the transaction is committed. */
AM_FN am_result am_enqueue(am_str method, am_val args) { return am_ask(am_host_enqueue, am_invocation_(method, args)); }

/* am_caller is who is acting: an object with user, full_name and roles. */
AM_FN am_result am_caller(void) { return am_ask(am_host_caller_get, am_parse(AM("{}"))); }

AM_FN am_val am_keyed_(am_str key) {
  am_json j = am_object();
  am_set_text(&j, "key", key);
  return am_done(&j);
}

/* am_config reads the plugin's configuration on this site; null if it is not set. */
AM_FN am_result am_config(am_str key) { return am_ask(am_host_config_get, am_keyed_(key)); }

/* The plugin's own store on this site: a cache, from which keys may go. */
AM_FN am_result am_kv_get(am_str key) { return am_ask(am_host_kv_get, am_keyed_(key)); }
AM_FN am_result am_kv_delete(am_str key) { return am_ask(am_host_kv_delete, am_keyed_(key)); }
AM_FN am_result am_kv_set(am_str key, am_val value, long long ttl_seconds) {
  am_json j = am_object();
  am_set_text(&j, "key", key);
  am_set(&j, "value", value);
  if (ttl_seconds) am_set_int(&j, "ttl_s", ttl_seconds);
  return am_ask(am_host_kv_set, am_done(&j));
}

AM_FN int am_is_utf8_(am_str s) {
  for (int i = 0, n; i < s.n; i += n) {
    const unsigned char *p = (const unsigned char *)s.p + i;
    unsigned c = p[0];
    n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (!n || n > s.n - i) return 0;
    for (int k = 1; k < n; k++)
      if ((p[k] & 0xc0) != 0x80) return 0;
    /* Too long a form, half a pair, beyond U+10FFFF. */
    if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] >= 0xa0) || (c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] >= 0x90)) return 0;
  }
  return 1;
}

/* am_set_body sets the body of a request, which is base64 (RFC 4648, section 4)
 * where it is not text. */
AM_FN void am_set_body(am_json *j, am_str body) {
  const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (am_is_utf8_(body)) {
    am_set_text(j, "body", body);
    return;
  }
  am_key_(j, "body_base64");
  am_write_(j, "\"", 1);
  for (int i = 0; i < body.n; i += 3) {
    int n = body.n - i < 3 ? body.n - i : 3;
    unsigned group = 0;
    for (int k = 0; k < 3; k++) group = group << 8 | (k < n ? (unsigned char)body.p[i + k] : 0);
    char four[4];
    for (int k = 0; k < 4; k++) four[k] = k > n ? '=' : digits[group >> (18 - 6 * k) & 63];
    am_write_(j, four, 4);
  }
  am_write_(j, "\"", 1);
}

AM_FN int am_digit_(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* am_body is the body of a request or an answer, text or not. */
AM_FN am_str am_body(am_val message) {
  am_str text = am_get_text(message, "body_base64");
  if (!text.n) return am_get_text(message, "body");
  char *p = am_alloc(text.n / 4 * 3 + 3);
  unsigned group = 0, bits = 0;
  am_str bytes = {p, 0};
  for (int i = 0; i < text.n && am_digit_(text.p[i]) >= 0; i++) {
    group = group << 6 | (unsigned)am_digit_(text.p[i]);
    if ((bits += 6) >= 8) p[bytes.n++] = (char)(group >> (bits -= 8) & 255);
  }
  return bytes;
}

/* am_fetch sends an HTTP request: an object with url, and method, headers, body
 * and timeout_ms where they are wanted; see am_set_body and am_body for bodies.
 * am_fetch_connected wants app, too. */
AM_FN am_result am_fetch(am_val request) { return am_ask(am_host_http_fetch, request); }
AM_FN am_result am_fetch_connected(am_val request) { return am_ask(am_host_connected_request, request); }

/* am_request is the HTTP request that made the call: method, path, query,
 * headers, and am_body. */
AM_FN am_result am_request(void) { return am_ask(am_host_request_get, am_parse(AM("{}"))); }

/* am_respond answers that request with text or bytes as they are. */
AM_FN am_result am_respond(long long status, am_val headers, am_str body) {
  am_json j = am_object();
  am_set_int(&j, "status", status);
  if (am_has(headers)) am_set(&j, "headers", headers);
  am_set_body(&j, body);
  return am_ask(am_host_respond, am_done(&j));
}

/* am_log writes a line to the server's log. */
AM_FN void am_log(int level, am_str message) { am_host_log(level, message.p, message.n); }

/* am_log_with writes a line with attributes, the members of an object. */
AM_FN void am_log_with(int level, am_str message, am_val attributes) {
  am_json j = am_object();
  am_set_text(&j, "message", message);
  for (am_iter i = am_items(attributes); am_next(&i);) {
    am_comma_(&j);
    am_val_(&j, i.key);
    am_write_(&j, ":", 1);
    am_val_(&j, i.value);
  }
  am_val v = am_done(&j);
  am_host_log(level, v.p, (int)(v.end - v.p));
}

/* am_now is the host's clock in microseconds since 1970. */
AM_FN long long am_now(void) { return am_host_now(); }

/* am_random fills p with n random bytes, fresh in every call. */
AM_FN void am_random(char *p, int n) { am_host_random(p, n); }

#ifdef __cplusplus
}
#endif
#endif
