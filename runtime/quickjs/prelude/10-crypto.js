// A part of the Web Cryptography API: hashes and HMAC. The host computes, at
// once; promises are only how the standard has it. Errors are the standard's.

// cryptoError is a DOMException of the standard's name.
function cryptoError(name, message) { return new DOMException(message, name); }

// algorithmOf reads an algorithm, {name, ...} or only its name, which may be
// written in any case. It must be one of those given.
function algorithmOf(algorithm, names, what) {
  const asked = typeof algorithm === "object" && algorithm !== null ? algorithm : { name: algorithm };
  if (asked.name === undefined) throw new TypeError(`${what}: the algorithm has no name`);
  const name = names.find((n) => n === String(asked.name).toUpperCase());
  if (name === undefined) throw cryptoError("NotSupportedError", `${what}: the algorithm ${asked.name} is not offered; expected ${names.join(", ")}`);
  return { ...asked, name };
}

// The hashes, with the length of what they compute upon, in bytes.
const hashBlocks = { "SHA-1": 64, "SHA-256": 64, "SHA-384": 128, "SHA-512": 128 };
const hashNames = Object.keys(hashBlocks);

const keyBytes = Symbol("bytes");

class CryptoKey {
  #bytes;
  constructor(given, bytes, algorithm, extractable, usages) {
    if (given !== keyBytes) throw new TypeError("Illegal constructor: use crypto.subtle.importKey or generateKey");
    this.#bytes = bytes;
    this.type = "secret";
    this.extractable = extractable;
    this.algorithm = Object.freeze(algorithm);
    this.usages = Object.freeze(usages);
    Object.freeze(this);
  }
  static [keyBytes](key) { return key.#bytes; }
}

const bytesOfKey = CryptoKey[keyBytes];
delete CryptoKey[keyBytes];

// keyFor is the bytes of a key that may be used in that way.
function keyFor(key, name, usage) {
  if (!(key instanceof CryptoKey)) throw new TypeError(`${usage}: expected a CryptoKey`);
  if (key.algorithm.name !== name) throw cryptoError("InvalidAccessError", `${usage}: the key is one for ${key.algorithm.name}`);
  if (!key.usages.includes(usage)) throw cryptoError("InvalidAccessError", `${usage}: the key is one for ${key.usages.join(", ")}`);
  return bytesOfKey(key);
}

// usagesOf are the usages of a new key, of those that its algorithm has.
function usagesOf(usages, allowed, what) {
  const asked = Array.from(usages, String);
  const wrong = asked.find((u) => !allowed.includes(u));
  if (wrong !== undefined) throw cryptoError("SyntaxError", `${what}: the usage ${wrong} is not one of ${allowed.join(", ")}`);
  if (asked.length === 0) throw cryptoError("SyntaxError", `${what}: the key would have no usage; expected some of ${allowed.join(", ")}`);
  return allowed.filter((u) => asked.includes(u));
}

const toBase64URL = (bytes) => base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

function fromBase64URL(text, what) {
  if (typeof text !== "string" || !/^[\w-]*$/.test(text)) throw cryptoError("DataError", `${what}: the key's k is not base64url`);
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  } catch {
    throw cryptoError("DataError", `${what}: the key's k is not base64url`);
  }
}

// readKey is the bytes of a key in one of the formats.
function readKey(format, data, extractable, usages, alg) {
  if (format === "raw") return viewOf(data, "importKey").slice();
  if (format !== "jwk") throw cryptoError("NotSupportedError", `importKey: the format ${format} is not offered; expected raw, jwk`);
  if (typeof data !== "object" || data === null || ArrayBuffer.isView(data) || data instanceof ArrayBuffer) {
    throw new TypeError("importKey: expected a JSON Web Key");
  }
  const wrong = data.kty !== "oct" ? "kty"
    : data.alg !== undefined && data.alg !== alg ? "alg"
    : data.use !== undefined && data.use !== (usages.includes("sign") || usages.includes("verify") ? "sig" : "enc") ? "use"
    : data.key_ops !== undefined && !usages.every((u) => data.key_ops.includes(u)) ? "key_ops"
    : data.ext === false && extractable ? "ext" : undefined;
  if (wrong !== undefined) throw cryptoError("DataError", `importKey: the key's ${wrong} does not fit`);
  return fromBase64URL(data.k, "importKey");
}

// What there is to know of an algorithm with keys: its usages, what a key of it
// says of itself, how it is called in a JSON Web Key, and how long a new key is.
const keyAlgorithms = {
  HMAC: {
    usages: ["sign", "verify"],
    of(asked, what) {
      if (asked.hash === undefined) throw new TypeError(`${what}: the algorithm HMAC needs a hash`);
      return { name: "HMAC", hash: Object.freeze({ name: algorithmOf(asked.hash, hashNames, what).name }) };
    },
    jwk: (algorithm) => algorithm.hash.name.replace("SHA-", "HS"),
    length: (asked, algorithm) => asked.length ?? 8 * hashBlocks[algorithm.hash.name],
    check(bits, asked) {
      if (bits === 0) throw cryptoError("DataError", "importKey: an HMAC key cannot be empty");
      if (asked.length !== undefined && asked.length !== bits) throw cryptoError("DataError", `importKey: the key has ${bits} bits, not ${asked.length}`);
    },
  },
};

function makeKey(bytes, asked, algorithm, extractable, usages) {
  return new CryptoKey(keyBytes, bytes, { ...algorithm, length: 8 * bytes.length }, Boolean(extractable), usages);
}

const subtle = Object.freeze({
  async digest(algorithm, data) {
    const { name } = algorithmOf(algorithm, hashNames, "digest");
    return host.digest(name, viewOf(data, "digest")).buffer;
  },
  async importKey(format, data, algorithm, extractable, usages) {
    const asked = algorithmOf(algorithm, Object.keys(keyAlgorithms), "importKey"), kind = keyAlgorithms[asked.name];
    const allowed = usagesOf(usages, kind.usages, "importKey"), own = kind.of(asked, "importKey");
    const bytes = readKey(format, data, extractable, allowed, kind.jwk(own, data));
    kind.check(8 * bytes.length, asked);
    return makeKey(bytes, asked, own, extractable, allowed);
  },
  async generateKey(algorithm, extractable, usages) {
    const asked = algorithmOf(algorithm, Object.keys(keyAlgorithms), "generateKey"), kind = keyAlgorithms[asked.name];
    const allowed = usagesOf(usages, kind.usages, "generateKey"), own = kind.of(asked, "generateKey");
    const bits = kind.length(asked, own);
    if (!Number.isInteger(bits) || bits <= 0 || bits % 8 !== 0 || bits > 1 << 19) {
      throw cryptoError("OperationError", `generateKey: a key cannot have ${bits} bits`);
    }
    return makeKey(host.random(String(bits / 8)), asked, own, extractable, allowed);
  },
  async exportKey(format, key) {
    if (!(key instanceof CryptoKey)) throw new TypeError("exportKey: expected a CryptoKey");
    if (format !== "raw" && format !== "jwk") throw cryptoError("NotSupportedError", `exportKey: the format ${format} is not offered; expected raw, jwk`);
    if (!key.extractable) throw cryptoError("InvalidAccessError", "exportKey: the key is not extractable");
    const bytes = bytesOfKey(key);
    if (format === "raw") return bytes.slice().buffer;
    return { kty: "oct", k: toBase64URL(bytes), alg: keyAlgorithms[key.algorithm.name].jwk(key.algorithm), key_ops: [...key.usages], ext: true };
  },
  async sign(algorithm, key, data) {
    const { name } = algorithmOf(algorithm, ["HMAC"], "sign");
    const bytes = keyFor(key, name, "sign");
    return host.hmac(key.algorithm.hash.name, bytes, viewOf(data, "sign")).buffer;
  },
  // verify compares in constant time.
  async verify(algorithm, key, signature, data) {
    const { name } = algorithmOf(algorithm, ["HMAC"], "verify"), bytes = keyFor(key, name, "verify");
    return host.equal(host.hmac(key.algorithm.hash.name, bytes, viewOf(data, "verify")), viewOf(signature, "verify")) !== undefined;
  },
  // Not in the standard; other servers of scripts have it here, too.
  timingSafeEqual(a, b) {
    const left = viewOf(a, "timingSafeEqual"), right = viewOf(b, "timingSafeEqual");
    if (left.length !== right.length) throw new TypeError("timingSafeEqual: the lengths differ");
    return host.equal(left, right) !== undefined;
  },
});

const crypto = Object.freeze({ getRandomValues, randomUUID, subtle });
