// The echo guest for Extism, written like its C kit: memory that guest and host
// share is reached by calls, eight bytes at a time.

typedef unsigned char byte;
typedef unsigned int u32;
typedef unsigned long long u64;

#define IMPORT(name) __attribute__((import_module("extism:host/env"), import_name(#name)))

IMPORT(input_length) u64 input_length(void);
IMPORT(input_load_u8) u32 input_load_u8(u64 at);
IMPORT(input_load_u64) u64 input_load_u64(u64 at);
IMPORT(alloc) u64 alloc(u64 n);
IMPORT(free) void release(u64 at);
IMPORT(length) u64 length(u64 at);
IMPORT(load_u8) u32 load_u8(u64 at);
IMPORT(load_u64) u64 load_u64(u64 at);
IMPORT(store_u8) void store_u8(u64 at, u32 value);
IMPORT(store_u64) void store_u64(u64 at, u64 value);
IMPORT(output_set) void output_set(u64 at, u64 n);

__attribute__((import_module("extism:host/user"), import_name("doc"))) u64 host_doc(u64 request);

static byte request[4096], reply[4096];

static u64 get64(const byte *p) {
	u64 v;
	__builtin_memcpy(&v, p, 8);
	return v;
}

static void put64(byte *p, u64 v) { __builtin_memcpy(p, &v, 8); }

static void load_input(byte *to, u64 n) {
	u64 i = 0;
	for (; i + 8 <= n; i += 8) put64(to + i, input_load_u64(i));
	for (; i < n; i++) to[i] = (byte)input_load_u8(i);
}

static void load(u64 from, byte *to, u64 n) {
	u64 i = 0;
	for (; i + 8 <= n; i += 8) put64(to + i, load_u64(from + i));
	for (; i < n; i++) to[i] = (byte)load_u8(from + i);
}

static u64 store(const byte *from, u64 n) {
	u64 to = alloc(n), i = 0;
	for (; i + 8 <= n; i += 8) store_u64(to + i, get64(from + i));
	for (; i < n; i++) store_u8(to + i, from[i]);
	return to;
}

__attribute__((export_name("echo"))) int echo(void) {
	u64 n = input_length();
	if (n > sizeof request) return 1;
	load_input(request, n);

	u64 in = store(request, n), doc = host_doc(in), m = length(doc), at = 0;
	for (const char *s = "{\"ok\":true,\"data\":"; *s; s++) reply[at++] = (byte)*s;
	if (at + m + 1 > sizeof reply) return 1;
	load(doc, reply + at, m);
	release(in);
	release(doc);
	at += m;
	reply[at++] = '}';

	output_set(store(reply, at), at);
	return 0;
}
