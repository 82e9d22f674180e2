// The echo guest for waPC.

typedef unsigned char byte;
typedef unsigned int u32;

#define IMPORT(name) __attribute__((import_module("wapc"), import_name(#name)))

IMPORT(__guest_request) void guest_request(byte *operation, byte *payload);
IMPORT(__guest_response) void guest_response(const byte *p, u32 n);
IMPORT(__host_call) u32 host_call(const char *binding, u32 bn, const char *namespace, u32 nn, const char *operation, u32 on,
	const byte *payload, u32 pn);
IMPORT(__host_response_len) u32 host_response_len(void);
IMPORT(__host_response) void host_response(byte *to);

static byte operation[64], request[4096], reply[4096];

__attribute__((export_name("__guest_call"))) u32 guest_call(u32 on, u32 n) {
	if (on > sizeof operation || n > sizeof request) return 0;
	guest_request(operation, request);
	if (!host_call("", 0, "", 0, "doc", 3, request, n)) return 0;

	u32 at = 0, m = host_response_len();
	for (const char *s = "{\"ok\":true,\"data\":"; *s; s++) reply[at++] = (byte)*s;
	if (at + m + 1 > sizeof reply) return 0;
	host_response(reply + at);
	at += m;
	reply[at++] = '}';
	guest_response(reply, at);
	return 1;
}
