// Randomness. What is drawn before the snapshot would be the same in every call, so
// it is refused there, and Math.random is seeded in each call, when it is first asked.

// fresh refuses what would be the same in every call and on every site: what is drawn
// while the script is loaded.
let loading = true;

function fresh(what) {
  if (loading) throw new TypeError(`${what} at the top level of a script would give the same value in every call and on every site: call it in a function`);
}

let state; // of xoshiro128**; undefined: not seeded in this call

Math.random = function random() {
  fresh("Math.random()");
  state ??= new Uint32Array(host.random("16").buffer);
  // 53 bits of two draws.
  return ((draw() >>> 5) * 67108864 + (draw() >>> 6)) / 9007199254740992;
};

function draw() {
  const s = state, rotate = (x, n) => (x << n) | (x >>> (32 - n));
  const result = Math.imul(rotate(Math.imul(s[1], 5), 7), 9) >>> 0, t = s[1] << 9;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 11);
  return result;
}

const hex = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));

// Arrays that can be filled with random bits.
const integerArrays = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array];

function getRandomValues(array) {
  fresh("crypto.getRandomValues()");
  if (!ArrayBuffer.isView(array) || !integerArrays.some((c) => array instanceof c)) {
    throw new DOMException("getRandomValues: expected an array of integers", "TypeMismatchError");
  }
  if (array.byteLength > 65536) throw new DOMException("getRandomValues: more than 65536 bytes at once", "QuotaExceededError");
  if (array.byteLength > 0) viewOf(array).set(host.random(String(array.byteLength)));
  return array;
}

function randomUUID() {
  fresh("crypto.randomUUID()");
  const b = host.random("16");
  b[6] = (b[6] & 0x0f) | 0x40;
  b[8] = (b[8] & 0x3f) | 0x80;
  const h = Array.from(b, (x) => hex[x]).join("");
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20)}`;
}
