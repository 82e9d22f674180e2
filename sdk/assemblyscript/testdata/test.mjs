// Tests of the SDK itself, by the plugin beside it.
import assert from "node:assert/strict";

const { Host } = await import(process.env.ARMATURE_STUBHOST);

// Bytes of every kind and number: RFC 4648, section 10, and what is no text.
for (const bytes of ["", "f", "fo", "foo", "foob", "Zo\u00eb", "\u{1f600}"].map((text) => Buffer.from(text))
  .concat(Buffer.from([255]), Buffer.from(Array.from({ length: 256 }, (_, i) => 255 - i)))) {
  const base64 = bytes.toString("base64");
  const text = new TextDecoder().decode(bytes);
  const bodies = [{ body_base64: base64 }];
  if (Buffer.from(text).equals(bytes)) bodies.push({ body: text });
  for (const body of bodies) {
    const host = await Host.load(process.env.ARMATURE_MODULE);
    host.answer("http_fetch", { status: 200, ...body });
    assert.equal(host.call("relay", { url: "https://x" }), bytes.length);
    assert.equal(host.request("respond").body_base64, base64);
  }
}
