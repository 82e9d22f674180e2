// The Armature SDK for AssemblyScript: what a plugin imports from "armature".
// README.md beside it shows how it is used; the contract below it is
// ../abi/abi.md.
//
// AssemblyScript has no exceptions that can be caught, so what may fail returns a
// Result: must() is its value or ends the call with its error.
//
// Every call starts from the state after loading: nothing a call leaves in a
// variable is seen by another, and memory need not be freed.

// ---- The host's functions. The compiler leaves out those that a plugin does not
// reach, and what is not imported is no permission the plugin asks for. ----

@external("armature1", "input") declare function hostInput(p: usize, cap: i32): i32;
@external("armature1", "output") declare function hostOutput(p: usize, len: i32): void;
@external("armature1", "throw") declare function hostThrow(kind: i32, p: usize, len: i32): void;
@external("armature1", "take") declare function hostTake(p: usize, cap: i32): i32;
@external("armature1", "log") declare function hostLog(level: i32, p: usize, len: i32): void;
@external("armature1", "now") declare function hostNow(): i64;
@external("armature1", "random") declare function hostRandom(p: usize, len: i32): void;
@external("armature1", "doc_get") declare function hostDocGet(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "doc_list") declare function hostDocList(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "doc_count") declare function hostDocCount(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "doc_insert") declare function hostDocInsert(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "doc_update") declare function hostDocUpdate(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "doc_delete") declare function hostDocDelete(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "doc_submit") declare function hostDocSubmit(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "doc_cancel") declare function hostDocCancel(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "method_call") declare function hostMethodCall(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "caller_get") declare function hostCallerGet(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "config_get") declare function hostConfigGet(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "kv_get") declare function hostKvGet(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "kv_set") declare function hostKvSet(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "kv_delete") declare function hostKvDelete(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "http_fetch") declare function hostHttpFetch(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "connected_request") declare function hostConnectedRequest(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "request_get") declare function hostRequestGet(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "respond") declare function hostRespond(p: usize, n: i32, out: usize, cap: i32): i32;
@external("armature1", "enqueue") declare function hostEnqueue(p: usize, n: i32, out: usize, cap: i32): i32;

/** The kind of an error; the HTTP status follows from it. */
export enum Kind {
  /** 500: a bug; the message is logged, not shown */ Internal = 1,
  /** 417: understood and refused by a rule */ Validation = 2,
  /** 401: credentials are wrong */ Authentication = 3,
  /** 403: the caller may not do this */ Permission = 4,
  /** 404: no such thing for this caller */ NotFound = 5,
  /** 409: the name is taken */ Conflict = 6,
  /** 410: past its use */ Gone = 7,
  /** 413: over the limit */ TooLarge = 8,
  /** 415: a content type that is not read */ UnsupportedMedia = 9,
  /** 429: a budget is used up */ TooManyRequests = 10,
  /** 503: try again later */ Unavailable = 11,
  /** 400: malformed */ BadRequest = 12,
  /** 504: took longer than its limit */ Timeout = 13,
  /** 501: this server cannot do it */ NotImplemented = 14,
  /** 405: a known path without this verb */ MethodNotAllowed = 15,
  /** 500: a limit other than time is used up */ Exhausted = 16,
  /** 500: the plugin died */ Trap = 17,
}

/** How much a log line matters. */
export enum Level { Debug = 0, Info = 1, Warn = 2, Error = 3 }

// ---- Values ----

/** What a Value is. */
export enum Type { Null, Bool, Int, Float, Text, Array, Object }

/**
 * A JSON value: a document, some of its fields, the arguments of a method. What is
 * absent or of another type reads as the empty value.
 */
export class Value {
  type: Type = Type.Null;
  private int_: i64 = 0;
  private float_: f64 = 0;
  private text_: string = "";
  private names_: string[] = [];
  private values_: Value[] = [];

  /** The value of a boolean, a number, a string, an array of those or a Value. */
  static of<T>(v: T): Value {
    const value = new Value();
    if (isBoolean<T>()) {
      value.type = Type.Bool;
      value.int_ = v ? 1 : 0;
    } else if (isInteger<T>()) {
      value.type = Type.Int;
      value.int_ = <i64>v;
    } else if (isFloat<T>()) {
      value.type = Type.Float;
      value.float_ = <f64>v;
    } else if (isString<T>()) {
      value.type = Type.Text;
      value.text_ = changetype<string>(v);
    } else if (isArray<T>()) {
      value.type = Type.Array;
      for (let i = 0; i < v.length; i++) value.values_.push(Value.of(v[i]));
    } else {
      return changetype<Value>(v);
    }
    return value;
  }

  static object(): Value {
    const value = new Value();
    value.type = Type.Object;
    return value;
  }

  static array(): Value {
    const value = new Value();
    value.type = Type.Array;
    return value;
  }

  /** Sets a member of an object. */
  set<T>(name: string, v: T): Value {
    this.type = Type.Object;
    const at = this.names_.indexOf(name);
    if (at < 0) {
      this.names_.push(name);
      this.values_.push(Value.of(v));
    } else {
      this.values_[at] = Value.of(v);
    }
    return this;
  }

  /** Adds an element to an array. */
  push<T>(v: T): Value {
    this.type = Type.Array;
    this.values_.push(Value.of(v));
    return this;
  }

  /** A member; null if there is none. */
  get(name: string): Value {
    const at = this.names_.lastIndexOf(name);
    return at < 0 ? new Value() : this.values_[at];
  }

  /** Reports whether there is a member, and that it is not null. */
  has(name: string): bool { return this.get(name).type != Type.Null; }

  text(name: string): string { return this.get(name).asText(); }
  int(name: string): i64 { return this.get(name).asInt(); }
  float(name: string): f64 { return this.get(name).asFloat(); }
  bool(name: string): bool { return this.get(name).asFloat() != 0; }
  array(name: string): Value[] { return this.get(name).asArray(); }

  asText(): string { return this.text_; }

  /** A whole number, cut toward zero; text that is a number counts, because arguments from a query string are text. */
  asInt(): i64 {
    if (this.type == Type.Int || this.type == Type.Bool) return this.int_;
    const f = this.asFloat();
    return isFinite(f) ? <i64>f : 0;
  }

  asFloat(): f64 {
    switch (this.type) {
      case Type.Int:
      case Type.Bool: return <f64>this.int_;
      case Type.Float: return this.float_;
      case Type.Text: {
        const f = parseFloat(this.text_);
        return isNaN(f) ? 0 : f;
      }
      default: return 0;
    }
  }

  asArray(): Value[] { return this.type == Type.Array ? this.values_ : []; }

  /** The names of an object's members. */
  names(): string[] { return this.names_; }

  /** The value as JSON. A number that is not finite is null. */
  toString(): string {
    const out: string[] = [];
    this.write(out);
    return out.join("");
  }

  private write(out: string[]): void {
    switch (this.type) {
      case Type.Null: out.push("null"); break;
      case Type.Bool: out.push(this.int_ ? "true" : "false"); break;
      case Type.Int: out.push(this.int_.toString()); break;
      case Type.Float: out.push(isFinite(this.float_) ? this.float_.toString() : "null"); break;
      case Type.Text: quote(out, this.text_); break;
      case Type.Array:
      case Type.Object: {
        const object = this.type == Type.Object;
        out.push(object ? "{" : "[");
        for (let i = 0; i < this.values_.length; i++) {
          if (i) out.push(",");
          if (object) {
            quote(out, this.names_[i]);
            out.push(":");
          }
          this.values_[i].write(out);
        }
        out.push(object ? "}" : "]");
      }
    }
  }

  /** Reads JSON. Text that is none ends the call as a ValidationError. */
  static parse(text: string): Value {
    const reader = new Reader(text);
    const value = reader.value();
    if (reader.peek() != -1) reader.fail("more text");
    return value;
  }
}

function quote(out: string[], s: string): void {
  let from = 0;
  out.push('"');
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i);
    if (c >= 0x20 && c != 0x22 && c != 0x5c) continue;
    out.push(s.substring(from, i));
    from = i + 1;
    if (c >= 0x20) {
      out.push("\\");
      out.push(String.fromCharCode(c));
    } else {
      out.push(c < 16 ? "\\u000" : "\\u00");
      out.push(c.toString(16));
    }
  }
  out.push(from ? s.substring(from) : s);
  out.push('"');
}

const MAX_DEPTH = 128;

class Reader {
  at: i32 = 0;
  depth: i32 = 0;
  constructor(private text: string) {}

  fail(what: string): void {
    raise(Kind.Validation, "FrameworkTypeError", "Not JSON: " + what + " at character " + this.at.toString());
  }

  /** The next character that is not white space; -1 at the end. */
  peek(): i32 {
    while (this.at < this.text.length) {
      const c = this.text.charCodeAt(this.at);
      if (c != 0x20 && c != 9 && c != 10 && c != 13) return c;
      this.at++;
    }
    return -1;
  }

  eat(c: i32): bool {
    if (this.peek() != c) return false;
    this.at++;
    return true;
  }

  word(word: string): void {
    if (this.text.substr(this.at, word.length) != word) this.fail("an unknown word");
    this.at += word.length;
  }

  value(): Value {
    const c = this.peek();
    switch (c) {
      case 0x6e: this.word("null"); return new Value();
      case 0x74: this.word("true"); return Value.of(true);
      case 0x66: this.word("false"); return Value.of(false);
      case 0x22: return Value.of(this.string());
      case 0x5b:
      case 0x7b: return this.nested(c == 0x7b);
    }
    return this.number();
  }

  nested(object: bool): Value {
    const value = object ? Value.object() : Value.array();
    const close = object ? 0x7d : 0x5d;
    this.at++;
    if (++this.depth > MAX_DEPTH) this.fail("too many levels");
    if (!this.eat(close)) {
      while (true) {
        if (object) {
          if (this.peek() != 0x22) this.fail("a missing name");
          const name = this.string();
          if (!this.eat(0x3a)) this.fail("a missing colon");
          value.set(name, this.value());
        } else {
          value.push(this.value());
        }
        if (this.eat(close)) break;
        if (!this.eat(0x2c)) this.fail("a missing comma");
      }
    }
    this.depth--;
    return value;
  }

  number(): Value {
    const from = this.at;
    let whole = true;
    while (this.at < this.text.length) {
      const c = this.text.charCodeAt(this.at);
      if (c == 0x2e || (c | 0x20) == 0x65 || c == 0x2b) whole = false;
      else if (c != 0x2d && (c < 0x30 || c > 0x39)) break;
      this.at++;
    }
    const text = this.text.substring(from, this.at);
    if (whole && text.length > 0 && text.length <= 18) return Value.of(I64.parseInt(text));
    const f = parseFloat(text);
    if (isNaN(f)) this.fail("an unexpected character");
    return Value.of(f);
  }

  string(): string {
    const parts: string[] = [];
    let from = ++this.at;
    while (true) {
      if (this.at >= this.text.length) this.fail("a text without end");
      const c = this.text.charCodeAt(this.at);
      if (c == 0x22) break;
      if (c != 0x5c) {
        this.at++;
        continue;
      }
      parts.push(this.text.substring(from, this.at));
      const escape = this.at + 1 < this.text.length ? this.text.charCodeAt(this.at + 1) : 0;
      this.at += 2;
      switch (escape) {
        case 0x6e: parts.push("\n"); break;
        case 0x74: parts.push("\t"); break;
        case 0x72: parts.push("\r"); break;
        case 0x62: parts.push("\b"); break;
        case 0x66: parts.push("\f"); break;
        case 0x22:
        case 0x5c:
        case 0x2f: parts.push(String.fromCharCode(escape)); break;
        case 0x75: {
          const unit = parseInt(this.text.substr(this.at, 4), 16);
          if (isNaN(unit)) this.fail("a broken escape");
          parts.push(String.fromCharCode(<i32>unit));
          this.at += 4;
          break;
        }
        default: this.fail("an unknown escape");
      }
      from = this.at;
    }
    const last = this.text.substring(from, this.at++);
    if (!parts.length) return last;
    parts.push(last);
    return parts.join("");
  }
}

// ---- A call ----

/** What a call of the host came to: a value, or an error of a kind other than 0. */
export class Result {
  constructor(public kind: i32, public type: string, public message: string, public value: Value) {}

  get failed(): bool { return this.kind != 0; }

  /** The value; an error ends the call and is the client's. */
  must(): Value {
    if (this.kind) raise(this.kind, this.type, this.message);
    return this.value;
  }
}

/** Ends the call with an error; what it wrote is undone. An empty type is the kind's own. */
export function raise(kind: i32, type: string, message: string): void {
  const text = String.UTF8.encode(Value.object().set("exc_type", type).set("message", message).toString());
  hostThrow(kind, changetype<usize>(text), text.byteLength);
  unreachable();
}

/** Runs one call of a method: export function close(n: i32): void { handle(n, closeToDo); } */
export function handle(n: i32, method: (args: Value) => Value): void {
  const text = new ArrayBuffer(n);
  hostInput(changetype<usize>(text), n);
  const result = String.UTF8.encode(method(Value.parse(String.UTF8.decode(text))).toString());
  hostOutput(changetype<usize>(result), result.byteLength);
}

/**
 * What the compiler calls when the plugin dies: it says where, in the server's log. It must not use Value: the compiler,
 * 0.28.20, dies of an abort that reaches an array.
 */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const text = (message ? message : "abort") + " at " + (file ? file : "?") + ":" + line.toString() + ":" + column.toString();
  const bytes = String.UTF8.encode(text);
  hostLog(Level.Error, changetype<usize>(bytes), bytes.byteLength);
  unreachable();
}

const ROOM: i32 = 4096;

function ask(call: (p: usize, n: i32, out: usize, cap: i32) => i32, request: Value): Result {
  const text = String.UTF8.encode(request.toString());
  let out = new ArrayBuffer(ROOM);
  const n = call(changetype<usize>(text), text.byteLength, changetype<usize>(out), ROOM);
  if (n >= 0) return new Result(0, "", "", Value.parse(rest(out, n)));
  const body = Value.parse(rest(out, hostTake(changetype<usize>(out), ROOM)));
  return new Result(-n, body.text("exc_type"), body.text("message"), new Value());
}

/** The whole of an answer of which the beginning is there. */
function rest(begin: ArrayBuffer, n: i32): string {
  let whole = begin;
  if (n > ROOM) {
    whole = new ArrayBuffer(n);
    memory.copy(changetype<usize>(whole), changetype<usize>(begin), ROOM);
    hostTake(changetype<usize>(whole) + ROOM, n - ROOM);
  }
  return String.UTF8.decodeUnsafe(changetype<usize>(whole), n);
}

// ---- Documents: as the caller of the method, in the transaction of the request.
// A write that fails is undone by itself. ----

function key(doctype: string, name: string): Value {
  return Value.object().set("doctype", doctype).set("name", name);
}

export function get(doctype: string, name: string): Result { return ask(hostDocGet, key(doctype, name)); }

/** Stores a new document; the value is the document as stored. */
export function insert(doctype: string, fields: Value): Result {
  return ask(hostDocInsert, Value.object().set("doc", fields.set("doctype", doctype)));
}

/** Changes the fields given and leaves the others; the value is the whole document. */
export function update(doctype: string, name: string, changes: Value): Result {
  return ask(hostDocUpdate, key(doctype, name).set("doc", changes));
}

export function remove(doctype: string, name: string): Result { return ask(hostDocDelete, key(doctype, name)); }
export function submit(doctype: string, name: string): Result { return ask(hostDocSubmit, key(doctype, name)); }
export function cancel(doctype: string, name: string): Result { return ask(hostDocCancel, key(doctype, name)); }

/** Which documents to list or count, and what of them: new Query("ToDo").field("name").eq("status", "Open").list() */
export class Query {
  private request: Value = Value.object();
  private fields: Value = Value.array();
  private filters: Value = Value.array();
  private orFilters: Value = Value.array();

  constructor(private doctype: string) {}

  /** Asks for a field; without any a list has names. */
  field(name: string): Query {
    this.fields.push(name);
    return this;
  }

  /** Adds a condition with any operator the server knows. */
  where<T>(field: string, op: string, value: T): Query {
    this.filters.push(Value.array().push(field).push(op).push(value));
    return this;
  }

  /** Adds a condition of those of which one has to hold. */
  or<T>(field: string, op: string, value: T): Query {
    this.orFilters.push(Value.array().push(field).push(op).push(value));
    return this;
  }

  eq<T>(field: string, value: T): Query { return this.where(field, "=", value); }
  ne<T>(field: string, value: T): Query { return this.where(field, "!=", value); }
  lt<T>(field: string, value: T): Query { return this.where(field, "<", value); }
  gt<T>(field: string, value: T): Query { return this.where(field, ">", value); }
  like(field: string, pattern: string): Query { return this.where(field, "like", pattern); }
  anyOf<T>(field: string, values: T[]): Query { return this.where(field, "in", values); }

  /** "field asc" or "field desc". */
  orderBy(order: string): Query {
    this.request.set("order_by", order);
    return this;
  }

  groupBy(field: string): Query {
    this.request.set("group_by", field);
    return this;
  }

  start(rows: i32): Query {
    this.request.set("limit_start", rows);
    return this;
  }

  /** At most so many rows; without it the server's 20. */
  limit(rows: i32): Query {
    this.request.set("limit_page_length", rows);
    return this;
  }

  /** Every row there is. */
  all(): Query { return this.limit(0); }

  /** The documents, as an array of rows. */
  list(): Result {
    const request = this.request.set("doctype", this.doctype).set("filters", this.filters);
    if (this.fields.asArray().length) request.set("fields", this.fields);
    if (this.orFilters.asArray().length) request.set("or_filters", this.orFilters);
    return ask(hostDocList, request);
  }

  /** How many there are, as a number. */
  count(): Result {
    return ask(hostDocCount, Value.object().set("doctype", this.doctype).set("filters", this.filters));
  }
}

// ---- What the host offers beside documents ----

/** Runs a whitelisted method in the same transaction for the same caller. */
export function call(method: string, args: Value): Result {
  return ask(hostMethodCall, Value.object().set("method", method).set("args", args));
}

/** Has a method run once the transaction is committed. */
export function enqueue(method: string, args: Value): Result {
  return ask(hostEnqueue, Value.object().set("method", method).set("args", args));
}

/** Who is acting: user, full_name, roles. */
export function caller(): Result { return ask(hostCallerGet, Value.object()); }

/** A key of the plugin's configuration on this site; null if it is not set. */
export function config(name: string): Result { return ask(hostConfigGet, Value.object().set("key", name)); }

/** A key of the plugin's own store, a cache from which keys may go; null if it is absent. */
export function load(name: string): Result { return ask(hostKvGet, Value.object().set("key", name)); }

/** Writes a key; ttl is its life in seconds, 0 keeps it. */
export function store<T>(name: string, value: T, ttl: i64 = 0): Result {
  const request = Value.object().set("key", name).set("value", value);
  if (ttl) request.set("ttl_s", ttl);
  return ask(hostKvSet, request);
}

export function forget(name: string): Result { return ask(hostKvDelete, Value.object().set("key", name)); }

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The body of a request or an answer as bytes, text or not. */
export function body(message: Value): Uint8Array {
  const base64 = message.text("body_base64");
  if (!base64.length) return Uint8Array.wrap(String.UTF8.encode(message.text("body")));
  const bytes = new Uint8Array(base64.length / 4 * 3);
  let group = 0, bits = 0, n = 0;
  for (let i = 0; i < base64.length; i++) {
    const digit = DIGITS.indexOf(base64.charAt(i));
    if (digit < 0) break;
    group = group << 6 | digit;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[n++] = <u8>(group >> bits);
  }
  return bytes.subarray(0, n);
}

/** Sets the body of a request to bytes that need not be text. */
export function setBody(message: Value, bytes: Uint8Array): Value {
  const out: string[] = [];
  for (let i = 0; i < bytes.length; i += 3) {
    const n = min(bytes.length - i, 3);
    let group = 0;
    for (let k = 0; k < 3; k++) group = group << 8 | (k < n ? <i32>bytes[i + k] : 0);
    for (let k = 0; k < 4; k++) out.push(k > n ? "=" : DIGITS.charAt(group >> (18 - 6 * k) & 63));
  }
  return message.set("body_base64", out.join(""));
}

/** Sends an HTTP request: url, and method, headers, body, timeout_ms where they are wanted. */
export function fetch(request: Value): Result { return ask(hostHttpFetch, request); }

/** Sends an HTTP request with the token that the Connected App "app" of the request holds for the caller. */
export function fetchConnected(request: Value): Result { return ask(hostConnectedRequest, request); }

/** The HTTP request that made the call: method, path, query, headers, body. */
export function request(): Result { return ask(hostRequestGet, Value.object()); }

/** Answers that request with a text as it is. */
export function respond(status: i32, headers: Value, body: string): Result {
  return ask(hostRespond, Value.object().set("status", status).set("headers", headers).set("body", body));
}

/** Answers it with bytes as they are. */
export function respondBytes(status: i32, headers: Value, bytes: Uint8Array): Result {
  return ask(hostRespond, setBody(Value.object().set("status", status).set("headers", headers), bytes));
}

/** Writes a line to the server's log; attributes is an object, or null. */
export function log(level: i32, message: string, attributes: Value | null = null): void {
  const line = Value.object().set("message", message);
  if (attributes) {
    const names = attributes.names();
    for (let i = 0; i < names.length; i++) line.set(names[i], attributes.get(names[i]));
  }
  const text = String.UTF8.encode(line.toString());
  hostLog(level, changetype<usize>(text), text.byteLength);
}

/** The host's clock: microseconds since 1970-01-01T00:00:00Z. */
export function now(): i64 { return hostNow(); }

/** Fresh random bytes. */
export function random(n: i32): Uint8Array {
  const bytes = new Uint8Array(n);
  hostRandom(bytes.dataStart, n);
  return bytes;
}
