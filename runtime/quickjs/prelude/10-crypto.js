// A part of the Web Cryptography API: hashes, HMAC, AES-GCM, and checking what
// others have signed by RSASSA-PKCS1-v1_5 and ECDSA. The host computes, at once;
// promises are only how the standard has it. Errors are the standard's.

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

let newKey, bytesOfKey; // what the rest needs of the class below

class CryptoKey {
  #bytes;
  static #making;
  constructor() {
    if (!CryptoKey.#making) throw new TypeError("Illegal constructor: use crypto.subtle.importKey or generateKey");
    const { bytes, type, algorithm, extractable, usages } = CryptoKey.#making;
    this.#bytes = bytes;
    this.type = type;
    this.extractable = extractable;
    this.algorithm = Object.freeze(algorithm);
    this.usages = Object.freeze(usages);
    Object.freeze(this);
  }
  static {
    newKey = (parts) => {
      CryptoKey.#making = parts;
      try {
        return new CryptoKey();
      } finally {
        CryptoKey.#making = undefined;
      }
    };
    bytesOfKey = (key) => key.#bytes;
  }
}

// keyFor is the bytes of a key that may be used in that way.
function keyFor(key, name, usage) {
  if (!(key instanceof CryptoKey)) throw new TypeError(`${usage}: expected a CryptoKey`);
  if (key.algorithm.name.toUpperCase() !== name) throw cryptoError("InvalidAccessError", `${usage}: the key is one for ${key.algorithm.name}`);
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

// checkKey refuses a JSON Web Key that says it is for something else.
function checkKey(data, extractable, usages, kty, alg, use) {
  if (typeof data !== "object" || data === null || ArrayBuffer.isView(data) || data instanceof ArrayBuffer) {
    throw new TypeError("importKey: expected a JSON Web Key");
  }
  const wrong = data.kty !== kty ? "kty"
    : data.alg !== undefined && alg !== undefined && data.alg !== alg ? "alg"
    : data.use !== undefined && data.use !== use ? "use"
    : data.key_ops !== undefined && !usages.every((u) => data.key_ops.includes(u)) ? "key_ops"
    : data.ext === false && extractable ? "ext" : undefined;
  if (wrong !== undefined) throw cryptoError("DataError", `importKey: the key's ${wrong} does not fit`);
}

function unknownFormat(what, format, formats) {
  return cryptoError("NotSupportedError", `${what}: the format ${format} is not offered; expected ${formats}`);
}

// secretKey reads a key that both sides have, in one of the formats.
function secretKey(format, data, extractable, usages, alg, use) {
  if (format === "raw") return viewOf(data, "importKey").slice();
  if (format !== "jwk") throw unknownFormat("importKey", format, "raw, jwk");
  checkKey(data, extractable, usages, "oct", undefined, use);
  const bytes = fromBase64URL(data.k, "importKey");
  if (data.alg !== undefined && data.alg !== alg(bytes)) throw cryptoError("DataError", "importKey: the key's alg does not fit");
  return bytes;
}

// publicKey reads the key of somebody who signs. It is kept as SubjectPublicKeyInfo.
function publicKey(format, data, extractable, usages, kty, alg, curve) {
  let bytes;
  if (format === "jwk") {
    checkKey(data, extractable, usages, kty, alg, "sig");
    if (data.d !== undefined) throw cryptoError("NotSupportedError", "importKey: private keys are not offered");
    bytes = host.publicKey("jwk", JSON.stringify(data), new Uint8Array());
  } else if (format === "spki") {
    bytes = host.publicKey("spki", "", viewOf(data, "importKey"));
  } else {
    throw unknownFormat("importKey", format, "jwk, spki");
  }
  if (bytes === undefined || host.keyKind(bytes) !== (curve ?? "RSA")) {
    throw cryptoError("DataError", `importKey: this is no public key ${curve === undefined ? "of RSA with 1024 to 8192 bits" : `on ${curve}`}`);
  }
  return bytes;
}

const hashOf = (asked, what) => {
  if (asked.hash === undefined) throw new TypeError(`${what}: the algorithm ${asked.name} needs a hash`);
  return Object.freeze({ name: algorithmOf(asked.hash, hashNames, what).name });
};

const curves = { "P-256": "ES256", "P-384": "ES384", "P-521": "ES512" };

// What there is to know of an algorithm with keys: its usages; what a key of it
// says of itself; how it is read, or made new of so many bits; and how it is called
// in a JSON Web Key.
const keyAlgorithms = {
  HMAC: {
    type: "secret", usages: ["sign", "verify"],
    describe: (asked, what) => ({ name: "HMAC", hash: hashOf(asked, what) }),
    jwk: (own) => own.hash.name.replace("SHA-", "HS"),
    bits: (asked, own) => asked.length ?? 8 * hashBlocks[own.hash.name],
    read(format, data, extractable, usages, own, asked) {
      const bytes = secretKey(format, data, extractable, usages, () => this.jwk(own), "sig");
      if (bytes.length === 0) throw cryptoError("DataError", "importKey: an HMAC key cannot be empty");
      if (asked.length !== undefined && asked.length !== 8 * bytes.length) {
        throw cryptoError("DataError", `importKey: the key has ${8 * bytes.length} bits, not ${asked.length}`);
      }
      return bytes;
    },
  },
  "AES-GCM": {
    type: "secret", usages: ["encrypt", "decrypt"],
    describe: () => ({ name: "AES-GCM" }),
    jwk: (own, bytes) => `A${8 * bytes.length}GCM`,
    bits(asked) {
      if (![128, 192, 256].includes(asked.length)) throw cryptoError("OperationError", "generateKey: a key of AES has 128, 192 or 256 bits");
      return asked.length;
    },
    read(format, data, extractable, usages, own) {
      const bytes = secretKey(format, data, extractable, usages, (b) => this.jwk(own, b), "enc");
      if (![16, 24, 32].includes(bytes.length)) throw cryptoError("DataError", "importKey: a key of AES has 128, 192 or 256 bits");
      return bytes;
    },
  },
  "RSASSA-PKCS1-V1_5": {
    type: "public", usages: ["verify"],
    describe: (asked, what) => ({ name: "RSASSA-PKCS1-v1_5", hash: hashOf(asked, what) }),
    read: (format, data, extractable, usages, own) =>
      publicKey(format, data, extractable, usages, "RSA", own.hash.name.replace("SHA-", "RS")),
  },
  ECDSA: {
    type: "public", usages: ["verify"],
    describe(asked, what) {
      if (curves[asked.namedCurve] === undefined) {
        throw cryptoError("NotSupportedError", `${what}: the curve ${asked.namedCurve} is not offered; expected ${Object.keys(curves).join(", ")}`);
      }
      return { name: "ECDSA", namedCurve: asked.namedCurve };
    },
    read: (format, data, extractable, usages, own) =>
      publicKey(format, data, extractable, usages, "EC", curves[own.namedCurve], own.namedCurve),
  },
};

const keyNames = Object.keys(keyAlgorithms), secretNames = keyNames.filter((name) => keyAlgorithms[name].bits);
const kindOf = (key) => keyAlgorithms[key.algorithm.name.toUpperCase()];

function makeKey(kind, bytes, algorithm, extractable, usages) {
  if (kind.type === "secret") algorithm.length = 8 * bytes.length;
  return newKey({ bytes, type: kind.type, algorithm, extractable: Boolean(extractable), usages });
}

// gcm is what AES-GCM is told beside key and data.
function gcm(algorithm, what) {
  const asked = algorithmOf(algorithm, ["AES-GCM"], what), iv = viewOf(asked.iv, what);
  if (iv.length === 0) throw cryptoError("OperationError", `${what}: the iv is empty`);
  if ((asked.tagLength ?? 128) !== 128) throw cryptoError("NotSupportedError", `${what}: a tagLength of ${asked.tagLength} is not offered, 128 is`);
  return [iv, asked.additionalData === undefined ? new Uint8Array() : viewOf(asked.additionalData, what)];
}

const subtle = Object.freeze({
  async digest(algorithm, data) {
    const { name } = algorithmOf(algorithm, hashNames, "digest");
    return host.digest(name, viewOf(data, "digest")).buffer;
  },
  async importKey(format, data, algorithm, extractable, usages) {
    const asked = algorithmOf(algorithm, keyNames, "importKey"), kind = keyAlgorithms[asked.name];
    const allowed = usagesOf(usages, kind.usages, "importKey"), own = kind.describe(asked, "importKey");
    return makeKey(kind, kind.read(format, data, extractable, allowed, own, asked), own, extractable, allowed);
  },
  async generateKey(algorithm, extractable, usages) {
    fresh("crypto.subtle.generateKey()");
    const asked = algorithmOf(algorithm, secretNames, "generateKey"), kind = keyAlgorithms[asked.name];
    const allowed = usagesOf(usages, kind.usages, "generateKey"), own = kind.describe(asked, "generateKey");
    const bits = kind.bits(asked, own);
    if (!Number.isInteger(bits) || bits <= 0 || bits % 8 !== 0 || bits > 1 << 19) {
      throw cryptoError("OperationError", `generateKey: a key cannot have ${bits} bits`);
    }
    return makeKey(kind, host.random(String(bits / 8)), own, extractable, allowed);
  },
  async exportKey(format, key) {
    if (!(key instanceof CryptoKey)) throw new TypeError("exportKey: expected a CryptoKey");
    const formats = key.type === "public" ? ["spki"] : ["raw", "jwk"];
    if (!formats.includes(format)) throw unknownFormat("exportKey", format, formats.join(", "));
    if (!key.extractable && key.type !== "public") throw cryptoError("InvalidAccessError", "exportKey: the key is not extractable");
    const bytes = bytesOfKey(key);
    if (format !== "jwk") return bytes.slice().buffer;
    return { kty: "oct", k: toBase64URL(bytes), alg: kindOf(key).jwk(key.algorithm, bytes), key_ops: [...key.usages], ext: true };
  },
  async sign(algorithm, key, data) {
    const { name } = algorithmOf(algorithm, ["HMAC"], "sign"), bytes = keyFor(key, name, "sign");
    return host.hmac(key.algorithm.hash.name, bytes, viewOf(data, "sign")).buffer;
  },
  // verify compares in constant time.
  async verify(algorithm, key, signature, data) {
    const asked = algorithmOf(algorithm, keyNames.filter((name) => keyAlgorithms[name].usages.includes("verify")), "verify");
    const bytes = keyFor(key, asked.name, "verify"), text = viewOf(data, "verify"), given = viewOf(signature, "verify");
    if (asked.name === "HMAC") return host.equal(host.hmac(key.algorithm.hash.name, bytes, text), given) !== undefined;
    const hash = asked.name === "ECDSA" ? hashOf(asked, "verify") : key.algorithm.hash;
    return host.verify(hash.name, bytes, given, text) !== undefined;
  },
  async encrypt(algorithm, key, data) {
    const [iv, additional] = gcm(algorithm, "encrypt");
    return host.seal(keyFor(key, "AES-GCM", "encrypt"), iv, additional, viewOf(data, "encrypt")).buffer;
  },
  async decrypt(algorithm, key, data) {
    const [iv, additional] = gcm(algorithm, "decrypt");
    const text = host.open(keyFor(key, "AES-GCM", "decrypt"), iv, additional, viewOf(data, "decrypt"));
    if (text === undefined) throw cryptoError("OperationError", "decrypt: this was not encrypted with this key, iv and additionalData, or has been changed");
    return text.buffer;
  },
  // Not in the standard; other servers of scripts have it here, too.
  timingSafeEqual(a, b) {
    const left = viewOf(a, "timingSafeEqual"), right = viewOf(b, "timingSafeEqual");
    if (left.length !== right.length) throw new TypeError("timingSafeEqual: the lengths differ");
    return host.equal(left, right) !== undefined;
  },
});

const crypto = Object.freeze({ getRandomValues, randomUUID, subtle });
