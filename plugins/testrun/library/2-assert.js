// Assertions. They throw an AssertionError whose message shows both values.

class AssertionError extends Error {
  constructor(message, values) {
    super(message);
    Object.assign(this, values);
  }
  get name() { return "AssertionError"; }
}

const maxShown = 2000;

// inspect shows a value as one would write it.
function inspect(value, within = [], indent = "") {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return value.name ? `function ${value.name}` : "a function";
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
  if (within.includes(value)) return "[itself]";
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Date) return `Date ${Number.isNaN(value.getTime()) ? "invalid" : value.toISOString()}`;
  if (value instanceof RegExp) return String(value);
  const inner = (v) => inspect(v, [...within, value], `${indent}  `);
  let [open, close, items] = ["{", "}", []];
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    [open, close, items] = [Array.isArray(value) ? "[" : `${value.constructor.name} [`, "]", Array.from(value, inner)];
  } else if (value instanceof Map) {
    [open, items] = ["Map {", [...value].map(([k, v]) => `${inner(k)} => ${inner(v)}`)];
  } else if (value instanceof Set) {
    [open, items] = ["Set {", [...value].map(inner)];
  } else {
    items = Object.entries(value).map(([k, v]) => `${/^[\w$]+$/.test(k) ? k : JSON.stringify(k)}: ${inner(v)}`);
  }
  const line = items.length ? `${open} ${items.join(", ")} ${close}` : open + close;
  return line.length + indent.length <= 100 && !line.includes("\n") ? line : `${open}\n${items.map((i) => `${indent}  ${i},\n`).join("")}${indent}${close}`;
}

function shownValue(value) {
  const text = inspect(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

// difference says where two values differ, "" for the values themselves;
// undefined if they do not.
function difference(a, b, at = "", pairs = []) {
  if (Object.is(a, b)) return undefined;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return at;
  if (Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) return at;
  if (pairs.some(([x, y]) => x === a && y === b)) return undefined;
  pairs = [...pairs, [a, b]];
  if (a instanceof Date) return Object.is(a.getTime(), b.getTime()) ? undefined : at;
  if (a instanceof RegExp) return String(a) === String(b) ? undefined : at;
  if (a instanceof Error && (a.name !== b.name || a.message !== b.message)) return at;
  if (a instanceof Map) return difference([...a], [...b], at, pairs);
  if (a instanceof Set) return a.size === b.size && [...a].every((x) => [...b].some((y) => difference(x, y, at, pairs) === undefined)) ? undefined : at;
  const list = Array.isArray(a) || ArrayBuffer.isView(a);
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const there = list ? `${at}[${key}]` : `${at}.${key}`;
    if (!Object.hasOwn(a, key) || !Object.hasOwn(b, key)) return there;
    const inner = difference(a[key], b[key], there, pairs);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function failure(message, actual, expected, where) {
  const at = where ? ` (they differ at ${where})` : "";
  throw new AssertionError(`${message}${at}\n  expected: ${shownValue(expected).replaceAll("\n", "\n  ")}\n  actual:   ${shownValue(actual).replaceAll("\n", "\n  ")}`, { actual, expected });
}

// thrownAs checks what was thrown: against a class, a pattern of the message, or
// members it must have.
function thrownAs(thrown, expected, message) {
  if (expected === undefined) return thrown;
  if (expected instanceof RegExp) {
    if (!expected.test(String(thrown?.message ?? thrown))) failure(message ?? "The error has another message", thrown, expected);
    return thrown;
  }
  if (typeof expected === "function") {
    if (!(thrown instanceof expected)) failure(message ?? `The error is no ${expected.name}`, thrown, expected);
    return thrown;
  }
  for (const [key, value] of Object.entries(expected)) {
    const same = value instanceof RegExp && typeof thrown?.[key] === "string" ? value.test(thrown[key]) : difference(thrown?.[key], value) === undefined;
    if (!same) failure(message ?? `The error has another ${key}: ${inspect(thrown)}`, thrown?.[key], value);
  }
  return thrown;
}

const nothingThrown = (message) => { throw new AssertionError(message ?? "Nothing was thrown"); };

function ok(value, message) {
  if (!value) failure(message ?? "The value is not true", value, true);
}

const assert = Object.assign((value, message) => ok(value, message), {
  AssertionError,
  ok,
  equal(actual, expected, message) {
    if (Object.is(actual, expected)) return;
    if (difference(actual, expected) === undefined) message ??= "Two objects are alike, but not the same one: deepEqual compares what is in them";
    failure(message ?? "The values are not equal", actual, expected);
  },
  notEqual(actual, unexpected, message) {
    if (Object.is(actual, unexpected)) throw new AssertionError(message ?? `The value is ${shownValue(actual)}, which it should not be`);
  },
  deepEqual(actual, expected, message) {
    const where = difference(actual, expected);
    if (where !== undefined) failure(message ?? "The values are not equal", actual, expected, where);
  },
  match(text, pattern, message) {
    if (typeof text !== "string" || !pattern.test(text)) failure(message ?? "The text does not match", text, pattern);
  },
  throws(fn, expected, message) {
    let result;
    try {
      result = fn();
    } catch (thrown) {
      return thrownAs(thrown, expected, message);
    }
    if (typeof result?.then === "function") throw new TypeError("assert.throws: the function answers with a promise; await assert.rejects(...)");
    return nothingThrown(message);
  },
  async rejects(work, expected, message) {
    try {
      await (typeof work === "function" ? work() : work);
    } catch (thrown) {
      return thrownAs(thrown, expected, message);
    }
    return nothingThrown(message);
  },
  fail(message) { throw new AssertionError(message ?? "The test fails itself"); },
});
