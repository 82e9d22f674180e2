// structuredClone, for what a plugin has: no transferring, no host objects.

function structuredClone(value) { return cloned(value, new Map()); }

function cloned(value, seen) {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new DOMException(`${String(value).slice(0, 50)} cannot be cloned`, "DataCloneError");
  }
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const keep = (copy) => (seen.set(value, copy), copy);
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof Boolean || value instanceof Number || value instanceof String) return keep(Object(value.valueOf()));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (value instanceof DataView) return keep(new DataView(cloned(value.buffer, seen), value.byteOffset, value.byteLength));
  if (ArrayBuffer.isView(value)) return keep(new value.constructor(cloned(value.buffer, seen), value.byteOffset, value.length));
  if (value instanceof Map) {
    const copy = keep(new Map());
    for (const [k, v] of value) copy.set(cloned(k, seen), cloned(v, seen));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set());
    for (const v of value) copy.add(cloned(v, seen));
    return copy;
  }
  if (value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef || value instanceof Promise) {
    throw new DOMException(`a ${value.constructor.name} cannot be cloned`, "DataCloneError");
  }
  if (value instanceof Error) {
    const own = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].find((c) => value.name === c.name) ?? Error;
    const copy = keep(new own(value.message));
    if ("cause" in value) define(copy, "cause", cloned(value.cause, seen));
    define(copy, "stack", value.stack);
    return copy;
  }
  const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
  for (const key of Object.keys(value)) copy[key] = cloned(value[key], seen);
  return copy;
}
