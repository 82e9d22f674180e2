// A guest written in C without a library, built by the tests with clang. It
// does the work of guests/echo.wat as a C compiler sees it: a stack in memory,
// static buffers, a global that holds the stack pointer.

typedef unsigned char byte;
typedef unsigned int u32;

#define IMPORT(name) __attribute__((import_module("host"), import_name(#name)))
#define EXPORT(name) __attribute__((export_name(#name)))

IMPORT(input) u32 host_input(void *buf, u32 cap);
IMPORT(output) void host_output(const void *buf, u32 len);
IMPORT(doc) u32 host_doc(const void *in, u32 len, void *out, u32 cap);
IMPORT(throw) void host_throw(u32 kind);

static byte request[4096], reply[4096];
static byte numbers[65536];
static int counter;

static u32 put(u32 at, const char *s) {
	while (*s) reply[at++] = (byte)*s++;
	return at;
}

EXPORT(nothing) void nothing(void) {}

// echo answers with a document of the host. The reply is put together on the
// stack's side of memory as well as in a static buffer, so both get dirty.
EXPORT(echo) void echo(u32 n) {
	host_input(request, sizeof request);
	u32 at = put(0, "{\"ok\":true,\"data\":");
	at += host_doc(request, n, reply + at, sizeof reply - at - 1);
	reply[at++] = '}';
	host_output(reply, at);
}

// count must answer 1 in every call.
EXPORT(count) int count(void) { return ++counter; }

EXPORT(loop) u32 loop(u32 n) {
	u32 x = 1;
	while (n--) x = (x * 1664525u + 1013904223u) ^ (x >> 7);
	return x;
}

EXPORT(fib) u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

EXPORT(sieve) u32 sieve(void) {
	for (u32 i = 0; i < sizeof numbers; i++) numbers[i] = 1;
	u32 found = 0;
	for (u32 i = 2; i < sizeof numbers; i++) {
		if (!numbers[i]) continue;
		found++;
		for (u32 j = 2 * i; j < sizeof numbers; j += i) numbers[j] = 0;
	}
	return found;
}

// grow takes memory from the host and writes to every page of it.
EXPORT(grow) int grow(u32 pages) {
	int before = __builtin_wasm_memory_grow(0, pages);
	if (before < 0) return before;
	for (u32 i = 0; i < pages << 16; i += 4096) ((byte *)(before << 16))[i] = 1;
	return __builtin_wasm_memory_size(0);
}

// recurse uses 64 bytes of the stack in memory for each call, and stays there
// when it fails: the stack pointer is then somewhere in the middle.
EXPORT(recurse) u32 recurse(u32 n) {
	volatile byte frame[64];
	frame[n & 63] = (byte)n;
	if (n == 0) __builtin_trap();
	return recurse(n - 1) + frame[n & 63];
}

// scribble writes over all the memory it finds, its own data included, and
// throws.
EXPORT(scribble) void scribble(u32 value) {
	u32 end = (u32)__builtin_wasm_memory_size(0) << 16;
	for (u32 at = 1024; at < end; at += 512) *(volatile byte *)at = (byte)value;
	host_throw(9);
}

EXPORT(lie) void lie(void) { host_output((void *)0xfffffff0u, 64); }

EXPORT(spin) void spin(void) {
	for (;;) *(volatile int *)&counter += 1;
}
