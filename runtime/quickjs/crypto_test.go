package quickjs_test

import (
	"errors"
	"strings"
	"testing"

	"armature/core/fault"
	"armature/runtime/engine"
)

// cryptoHelp is what the expressions use: refused is the name of what a function, or
// its promise, throws.
const cryptoHelp = `
	const bytes = (text) => new TextEncoder().encode(text);
	const hex = (buffer) => Array.from(new Uint8Array(buffer), (b) => b.toString(16).padStart(2, "0")).join("");
	const refused = async (fn) => { try { await fn(); return "" } catch (e) { return (e instanceof DOMException ? "" : "plain ") + e.name } };
	const hmac = (key, hash = "SHA-256", usages = ["sign", "verify"], extractable = false) =>
		crypto.subtle.importKey("raw", key, {name: "HMAC", hash}, extractable, usages);
`

// TestCrypto: what crypto computes, with the values of the standards (FIPS 180-4,
// RFC 4231, RFC 7515), and how it refuses.
func TestCrypto(t *testing.T) {
	tests := []struct{ name, expression, want string }{
		{"SHA-1", `hex(await crypto.subtle.digest("SHA-1", bytes("abc")))`, `"a9993e364706816aba3e25717850c26c9cd0d89d"`},
		{"SHA-256", `hex(await crypto.subtle.digest({name: "sha-256"}, bytes("abc")))`, `"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`},
		{"SHA-384", `hex(await crypto.subtle.digest("SHA-384", bytes("abc").buffer))`, `"cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"`},
		{"SHA-512", `hex(await crypto.subtle.digest("SHA-512", bytes("xabc").subarray(1)))`, `"ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"`},
		{"of nothing", `hex(await crypto.subtle.digest("SHA-1", new ArrayBuffer(0)))`, `"da39a3ee5e6b4b0d3255bfef95601890afd80709"`},
		{"of words", `hex(await crypto.subtle.digest("SHA-1", new Uint16Array([0x6261, 0x63]).subarray(0, 1)))`, `"da23614e02469a0d7c7bd1bdab5c9c474b1904dc"`},
		{"of much", `hex(await crypto.subtle.digest("SHA-256", new Uint8Array(1e6).fill(97)))`, `"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"`},
		{"an ArrayBuffer", `(await crypto.subtle.digest("SHA-256", bytes(""))) instanceof ArrayBuffer`, `true`},
		{"a promise", `await (async () => { const p = crypto.subtle.digest("MD5", bytes("")); return p instanceof Promise && refused(() => p) })()`, `"NotSupportedError"`},
		{"not bytes", `await refused(() => crypto.subtle.digest("SHA-1", "abc"))`, `"plain TypeError"`},
		{"not really bytes", `await refused(() => crypto.subtle.digest("SHA-1", Object.create(Uint8Array.prototype)))`, `"plain TypeError"`},
		{"HMAC", `hex(await crypto.subtle.sign("HMAC", await hmac(new Uint8Array(20).fill(0x0b)), bytes("Hi There")))`, `"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"`},
		{"HMAC-SHA-512", `hex(await crypto.subtle.sign({name: "hmac"}, await hmac(new Uint8Array(20).fill(0x0b), {name: "SHA-512"}), bytes("Hi There")))`,
			`"87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"`},
		{"a long key", `hex(await crypto.subtle.sign("HMAC", await hmac(new Uint8Array(131).fill(0xaa)), bytes("Test Using Larger Than Block-Size Key - Hash Key First")))`,
			`"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"`},
		{"verify", `await (async () => {
			const key = await hmac(bytes("secret")), mac = await crypto.subtle.sign("HMAC", key, bytes("x"));
			const v = (m, d) => crypto.subtle.verify("HMAC", key, m, bytes(d));
			return [await v(mac, "x"), await v(new Uint8Array(mac), "x"), await v(mac, "y"), await v(mac.slice(1), "x"), await v(new ArrayBuffer(0), "x"), await v(new Uint8Array(mac).fill(0, 31), "x")];
		})()`, `[true,true,false,false,false,false]`},
		{"a key is a copy", `await (async () => {
			const raw = bytes("secret"), key = await hmac(raw), before = hex(await crypto.subtle.sign("HMAC", key, raw));
			const data = bytes("secret"); raw.fill(0);
			return before === hex(await crypto.subtle.sign("HMAC", key, data));
		})()`, `true`},
		{"what a key says", `await (async () => { const k = await hmac(bytes("secret"), "SHA-1", ["verify"]); return [k instanceof CryptoKey, k, Object.keys(k)] })()`,
			`[true,{"type":"secret","extractable":false,"algorithm":{"name":"HMAC","hash":{"name":"SHA-1"},"length":48},"usages":["verify"]},["type","extractable","algorithm","usages"]]`},
		{"JSON Web Key", `await (async () => {
			const jwk = {kty: "oct", alg: "HS256", k: "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"};
			const key = await crypto.subtle.importKey("jwk", jwk, {name: "HMAC", hash: "SHA-256"}, true, ["sign"]);
			const text = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
			const out = await crypto.subtle.exportKey("jwk", key);
			return [btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(text))))), out.k === jwk.k, out.alg, out.key_ops];
		})()`, `["dBjftJeZ4CVP+mB92K27uhbUJU1p1r/wW1gFWFOEjXk=",true,"HS256",["sign"]]`},
		{"generateKey", `await (async () => {
			const make = () => crypto.subtle.generateKey({name: "HMAC", hash: "SHA-512"}, true, ["sign"]);
			const raw = async () => hex(await crypto.subtle.exportKey("raw", await make()));
			return [(await make()).algorithm.length, await raw() === await raw()];
		})()`, `[1024,false]`},
		{"refusals", `[
			await refused(() => hmac(bytes("k"), "MD5")),
			await refused(() => hmac(bytes("k"), "SHA-1", [])),
			await refused(() => hmac(bytes("k"), "SHA-1", ["encrypt"])),
			await refused(() => hmac(bytes(""))),
			await refused(() => hmac("text")),
			await refused(() => crypto.subtle.importKey("raw", bytes("k"), "HMAC", true, ["sign"])),
			await refused(() => crypto.subtle.importKey("pkcs8", bytes("k"), {name: "HMAC", hash: "SHA-1"}, true, ["sign"])),
			await refused(() => crypto.subtle.importKey("jwk", {kty: "oct", k: "!"}, {name: "HMAC", hash: "SHA-1"}, true, ["sign"])),
			await refused(() => crypto.subtle.importKey("jwk", {kty: "RSA"}, {name: "HMAC", hash: "SHA-1"}, true, ["sign"])),
			await refused(async () => crypto.subtle.exportKey("raw", await hmac(bytes("k")))),
			await refused(async () => crypto.subtle.sign("HMAC", await hmac(bytes("k"), "SHA-1", ["verify"]), bytes(""))),
			await refused(() => crypto.subtle.sign("HMAC", {type: "secret"}, bytes(""))),
			await refused(() => crypto.subtle.sign("RSA-PSS", {}, bytes(""))),
			await refused(() => crypto.subtle.generateKey({name: "HMAC", hash: "SHA-1", length: 2 ** 31}, true, ["sign"])),
			await refused(async () => new CryptoKey()),
		]`, `["NotSupportedError","SyntaxError","SyntaxError","DataError","plain TypeError","plain TypeError","NotSupportedError","DataError","DataError",` +
			`"InvalidAccessError","InvalidAccessError","plain TypeError","NotSupportedError","OperationError","plain TypeError"]`},
		{"AES-GCM", `await (async () => { // test case 2 of the proposal for GCM
			const key = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", true, ["encrypt", "decrypt"]);
			const iv = new Uint8Array(12), sealed = await crypto.subtle.encrypt({name: "AES-GCM", iv}, key, new Uint8Array(16));
			return [hex(sealed), hex(await crypto.subtle.decrypt({name: "aes-gcm", iv}, key, sealed)), (await crypto.subtle.exportKey("jwk", key)).alg];
		})()`, `["0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf","00000000000000000000000000000000","A128GCM"]`},
		{"AES-GCM refuses", `await (async () => {
			const key = await crypto.subtle.generateKey({name: "AES-GCM", length: 256}, false, ["encrypt", "decrypt"]), iv = crypto.getRandomValues(new Uint8Array(16));
			const how = {name: "AES-GCM", iv, additionalData: bytes("for x")}, sealed = new Uint8Array(await crypto.subtle.encrypt(how, key, bytes("text")));
			const open = (change, data = sealed) => refused(() => crypto.subtle.decrypt({...how, ...change}, key, data));
			const changed = sealed.slice(); changed[0] ^= 1;
			return [await open({}), await open({additionalData: bytes("for y")}), await open({iv: new Uint8Array(16)}), await open({}, changed), await open({}, sealed.subarray(1)), await open({}, new Uint8Array()),
				await open({iv: new Uint8Array()}), await open({tagLength: 96}), await open({iv: undefined}),
				await refused(() => crypto.subtle.sign("HMAC", key, sealed)), await refused(() => crypto.subtle.exportKey("raw", key)),
				await refused(() => crypto.subtle.importKey("raw", new Uint8Array(15), "AES-GCM", true, ["encrypt"])),
				await refused(() => crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", true, ["sign"])),
				await refused(() => crypto.subtle.importKey("jwk", {kty: "oct", k: "AAAAAAAAAAAAAAAAAAAAAA", alg: "A256GCM"}, "AES-GCM", true, ["encrypt"])),
				await refused(() => crypto.subtle.generateKey({name: "AES-GCM", length: 100}, true, ["encrypt"]))];
		})()`, `["","OperationError","OperationError","OperationError","OperationError","OperationError","OperationError","NotSupportedError","plain TypeError",` +
			`"InvalidAccessError","InvalidAccessError","DataError","SyntaxError","DataError","OperationError"]`},
		{"public keys that are none", `await (async () => {
			const take = (format, key, algorithm) => refused(() => crypto.subtle.importKey(format, key, algorithm, true, ["verify"]));
			const rsa = {name: "RSASSA-PKCS1-v1_5", hash: "SHA-256"}, ec = {name: "ECDSA", namedCurve: "P-256"};
			return [await take("jwk", {kty: "RSA", n: "AQAB", e: "AQAB"}, rsa), await take("jwk", {kty: "EC", crv: "P-256", x: "AA", y: "AA"}, ec), await take("spki", bytes("x"), rsa),
				await take("jwk", {kty: "EC", crv: "P-256", x: "A".repeat(43), y: "A".repeat(43)}, ec), await take("jwk", {kty: "RSA", n: "_".repeat(4000), e: "AQAB"}, rsa),
				await take("raw", bytes("x"), ec), await take("jwk", {kty: "EC"}, {name: "ECDSA", namedCurve: "secp256k1"}), await take("jwk", {kty: "RSA", d: "AA"}, rsa), await take("spki", "x".repeat(9), ec),
				await refused(() => crypto.subtle.importKey("spki", bytes("x"), rsa, true, ["sign"])), await refused(() => crypto.subtle.generateKey(ec, true, ["verify"]))];
		})()`, `["DataError","DataError","DataError","DataError","DataError","NotSupportedError","NotSupportedError","NotSupportedError","plain TypeError","SyntaxError","NotSupportedError"]`},
		{"timingSafeEqual", `[crypto.subtle.timingSafeEqual(bytes("a"), bytes("a")), crypto.subtle.timingSafeEqual(bytes("a"), bytes("b")), crypto.subtle.timingSafeEqual(bytes(""), new ArrayBuffer(0)),
			await refused(async () => crypto.subtle.timingSafeEqual(bytes("a"), bytes("aa")))]`, `[true,false,true,"plain TypeError"]`},
		{"getRandomValues", `[crypto.getRandomValues(new BigUint64Array(8)).some((x) => x > 2n ** 62n), crypto.getRandomValues(new Uint8Array(0)).length,
			await refused(async () => crypto.getRandomValues(new Float32Array(1))), await refused(async () => crypto.getRandomValues(new Uint8Array(65537))), await refused(async () => crypto.getRandomValues([1]))]`,
			`[true,0,"TypeMismatchError","QuotaExceededError","TypeMismatchError"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := script(t, cryptoHelp+"export async function f() { return ("+tt.expression+") }", "f")
			if got := answer(t, m, `{}`); got != tt.want {
				t.Errorf("%s is %s, want %s", tt.expression, got, tt.want)
			}
		})
	}
}

// TestHostWorkIsPaidFor: what the host computes for a script comes out of the
// call's fuel, before it is computed.
func TestHostWorkIsPaidFor(t *testing.T) {
	const fuel = 100e6 // 25 ms
	tests := []struct{ name, expression string }{
		{"digest", `crypto.subtle.digest("SHA-512", big)`},
		{"HMAC", `crypto.subtle.sign("HMAC", key, big)`},
		{"AES-GCM", `crypto.subtle.encrypt({name: "AES-GCM", iv: big.subarray(0, 12)}, aes, big)`},
		{"keys", `crypto.subtle.importKey("spki", new Uint8Array(1000), {name: "ECDSA", namedCurve: "P-256"}, true, ["verify"]).catch(() => {})`},
		{"comparing", `crypto.subtle.timingSafeEqual(big, big)`},
		{"decoding", `new TextDecoder().decode(big)`},
		{"mending", `new TextDecoder().decode(big.fill(255, 0, 1 << 20).subarray(0, 1 << 20))`},
		{"encoding", `new TextEncoder().encode(long)`},
		{"random bytes", `crypto.getRandomValues(big.subarray(0, 65536))`},
		{"a URL", `new URL(path)`},
		{"a long query", `URL.canParse(query)`},
		{"logging", `console.log(long)`},
		{"cloning", `structuredClone(big)`},
		{"base64", `btoa(long.slice(0, 1 << 20))`},
		{"the host", `(() => { try { caller.has(long) } catch {} try { kv.set("a", list) } catch {} })()`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := script(t, cryptoHelp+`
				const key = await hmac(bytes("k")), long = "x".repeat(1 << 22), list = new Array(1 << 18).fill(1);
				const aes = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["encrypt"]);
				const path = "http://a/" + "a/".repeat(2000), query = "http://a/?" + "a".repeat(60000);
				export async function f() { const big = new Uint8Array(1 << 24); for (;;) await `+tt.expression+` }`, "f")
			_, usage, err := run(t, m, "f", "{}", engine.Limits{Fuel: fuel})
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != fault.Exhausted || !strings.Contains(e.Message, "fuel") {
				t.Fatalf("error %v", err)
			}
			if usage.Fuel < fuel || usage.Fuel > 1.01*fuel || usage.HostCalls > 1000 {
				t.Errorf("the call is charged %d, in %d host calls", usage.Fuel, usage.HostCalls)
			}
		})
	}
}
