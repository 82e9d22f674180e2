// What a plugin in JavaScript or TypeScript finds, besides the language itself
// (ES2023). For editors: put
//   /// <reference path="armature.d.ts" />
// at the top of a script, or take the tsconfig.json beside this file. The server
// needs neither.

/** A document as `GET /api/resource/:doctype/:name` shows it. */
interface Doc {
  name: string;
  owner: string;
  creation: string;
  modified: string;
  modified_by: string;
  idx: number;
  docstatus: number;
  doctype: string;
  [field: string]: any;
}

/** `["=", value]`, `["like", "a%"]`, `["in", [1, 2]]`, `[">", 5]`, `["is", "set"]`, ... */
type Operator = [operator: string, value: unknown];

/** `{status: "Open", modified: [">", "2026-01-01"]}` or `[["status", "=", "Open"]]`; all of them hold. */
type Filters = { [field: string]: string | number | boolean | null | Operator } | [field: string, operator: string, value: unknown][];

interface ListOptions {
  /** Default: only `name`. */
  fields?: string[];
  /** All of these hold. */
  filters?: Filters;
  /** At least one of these holds. */
  any?: Filters;
  /** `"field asc"` or `"field desc"`; default `"modified desc"`. */
  orderBy?: string;
  groupBy?: string;
  /** Rows to skip. */
  start?: number;
  /** Rows to return; default 20. `Infinity` is all. */
  limit?: number;
}

/**
 * Documents, as the caller of the method may see and change them, in the
 * request's transaction. Nothing here needs `await`, which does no harm either.
 */
declare const doc: {
  /** Throws NotFoundError, PermissionError. */
  get<T = Doc>(doctype: string, name: string): T;
  list<T = Partial<Doc>>(doctype: string, options?: ListOptions): T[];
  count(doctype: string, filters?: Filters): number;
  /** The document as stored. Throws ValidationError, ConflictError, PermissionError. */
  insert<T = Doc>(doctype: string, fields: object): T;
  insert<T = Doc>(doc: { doctype: string; [field: string]: unknown }): T;
  /** Changes the given fields and returns the whole document. */
  update<T = Doc>(doctype: string, name: string, fields: object): T;
  delete(doctype: string, name: string): void;
  submit<T = Doc>(doctype: string, name: string): T;
  cancel<T = Doc>(doctype: string, name: string): T;
};

/** What a handler of a document event gets. What it returns before the write is set in the document. */
interface DocEvent<T = Doc> {
  event: string;
  doc: T;
  /** The stored document; null for a new one. */
  before: T | null;
}

/** The plugin's store: a cache of the server's, in which a key may go at any time. */
declare const kv: {
  get<T = any>(key: string): T | null;
  /** `ttl` is in seconds; without it the key stays. A GET sets nothing. */
  set(key: string, value: unknown, options?: { ttl?: number }): void;
  delete(key: string): void;
};

/** Calls a method of this or another plugin, or of the platform, as the same caller in the same transaction. */
declare function call<T = any>(method: string, args?: object): T;

/** Has a method run later, if the request succeeds; returns the job's id. */
declare function enqueue(method: string, args?: object): string;

/** A setting of the plugin on this site; `otherwise`, or null, if it is not set. */
declare function config<T = any>(key: string, otherwise?: T): T;

/** Who is acting. */
declare const caller: {
  readonly user: string;
  readonly fullName: string;
  readonly roles: string[];
  has(role: string): boolean;
};

/** The HTTP request that made the call, without its credentials. Throws NotFoundError where there is none. */
declare const request: {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
  bytes(): Uint8Array;
  json(): any;
};

/** Answers the request with bytes of one's own in place of `{"message": ...}`, once the method has returned. */
declare function respond(answer: { status?: number; headers?: HeadersInit; body?: BodyInit }): void;

/** The server's log, with attributes. `console` writes to it, too. */
declare const log: {
  debug(message: string, attributes?: object): void;
  info(message: string, attributes?: object): void;
  warn(message: string, attributes?: object): void;
  error(message: string, attributes?: object): void;
};

/** An error that a client understands: `type` is its `exc_type`, the HTTP status follows from the class. */
declare class ArmatureError extends Error {
  constructor(message?: string, options?: { type?: string; kind?: number; cause?: unknown });
  kind: number;
  type: string;
}
/** 417: a rule refuses the request. */
declare class ValidationError extends ArmatureError {}
/** 401 */
declare class AuthenticationError extends ArmatureError {}
/** 403: the caller may not do this. */
declare class PermissionError extends ArmatureError {}
/** 404 */
declare class NotFoundError extends ArmatureError {}
/** 409: the name is taken. */
declare class ConflictError extends ArmatureError {}
/** 410 */
declare class GoneError extends ArmatureError {}
/** 413 */
declare class TooLargeError extends ArmatureError {}
/** 415 */
declare class UnsupportedMediaError extends ArmatureError {}
/** 429 */
declare class TooManyRequestsError extends ArmatureError {}
/** 503: try again later. */
declare class UnavailableError extends ArmatureError {}
/** 400: the request is malformed. */
declare class BadRequestError extends ArmatureError {}
/** 504 */
declare class TimeoutError extends ArmatureError {}
/** 501 */
declare class NotImplementedError extends ArmatureError {}
/** 405 */
declare class MethodNotAllowedError extends ArmatureError {}
/** 500: a limit is used up. */
declare class ExhaustedError extends ArmatureError {}

// The web's own, as far as a plugin has them.

type HeadersInit = Headers | Iterable<[string, string]> | { [name: string]: string };
type BodyInit = string | URLSearchParams | ArrayBuffer | ArrayBufferView;

interface RequestInit {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit | null;
  /** Milliseconds, at most 60000. Not in the standard. */
  timeout?: number;
  /** Is looked at before the request; of `AbortSignal.timeout` the time counts during it. */
  signal?: AbortSignal | null;
  /** Redirects are followed. */
  redirect?: "follow";
}

/** Asks a host of `allowed_hosts` that an administrator has approved. It comes before the first document call, or the method says `tx: "manual"`. */
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;

/** fetch with the token of a Connected App. */
declare function connected(app: string, input: string | URL | Request, init?: RequestInit): Promise<Response>;

declare class Headers {
  constructor(init?: HeadersInit);
  append(name: string, value: string): void;
  set(name: string, value: string): void;
  get(name: string): string | null;
  has(name: string): boolean;
  delete(name: string): void;
  forEach(fn: (value: string, name: string, headers: Headers) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

declare class Request {
  constructor(input: string | URL | Request, init?: RequestInit);
  url: string;
  method: string;
  headers: Headers;
  body: BodyInit | null;
  timeout?: number;
  signal: AbortSignal | null;
}

declare class AbortController {
  constructor();
  readonly signal: AbortSignal;
  abort(reason?: any): void;
}

declare class AbortSignal {
  private constructor();
  static abort(reason?: any): AbortSignal;
  static timeout(milliseconds: number): AbortSignal;
  static any(signals: Iterable<AbortSignal>): AbortSignal;
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((event: { type: "abort"; target: AbortSignal }) => void) | null;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: (event: { type: "abort"; target: AbortSignal }) => void): void;
  removeEventListener(type: "abort", listener: (event: { type: "abort"; target: AbortSignal }) => void): void;
}

declare class Response {
  constructor(body?: BodyInit | null, init?: { status?: number; statusText?: string; headers?: HeadersInit });
  static json(value: unknown, init?: { status?: number; headers?: HeadersInit }): Response;
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly headers: Headers;
  readonly url: string;
  readonly redirected: boolean;
  readonly bodyUsed: boolean;
  text(): Promise<string>;
  json(): Promise<any>;
  bytes(): Promise<Uint8Array>;
  arrayBuffer(): Promise<ArrayBuffer>;
  clone(): Response;
}

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
  readonly searchParams: URLSearchParams;
  toString(): string;
  toJSON(): string;
}

declare class URLSearchParams {
  constructor(init?: string | Iterable<[string, string]> | { [name: string]: string } | URLSearchParams);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(fn: (value: string, name: string, params: URLSearchParams) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  toString(): string;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

declare class TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}

/** UTF-8 only. */
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(input?: ArrayBuffer | ArrayBufferView): string;
}

type BufferSource = ArrayBuffer | ArrayBufferView;
type HashName = "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512";
type KeyUsage = "sign" | "verify" | "encrypt" | "decrypt";
type HashAlgorithm = HashName | { name: HashName };

/** A part of the Web Cryptography API. What is refused is a DOMException with the standard's name. */
interface SubtleCrypto {
  digest(algorithm: HashAlgorithm, data: BufferSource): Promise<ArrayBuffer>;
  importKey(format: "raw", key: BufferSource, algorithm: HmacParams | AesParams, extractable: boolean, usages: KeyUsage[]): Promise<CryptoKey>;
  importKey(format: "jwk", key: JsonWebKey, algorithm: HmacParams | AesParams | PublicKeyParams, extractable: boolean, usages: KeyUsage[]): Promise<CryptoKey>;
  importKey(format: "spki", key: BufferSource, algorithm: PublicKeyParams, extractable: boolean, usages: KeyUsage[]): Promise<CryptoKey>;
  generateKey(algorithm: HmacParams | { name: "AES-GCM"; length: 128 | 192 | 256 }, extractable: boolean, usages: KeyUsage[]): Promise<CryptoKey>;
  exportKey(format: "raw" | "spki", key: CryptoKey): Promise<ArrayBuffer>;
  exportKey(format: "jwk", key: CryptoKey): Promise<JsonWebKey>;
  sign(algorithm: "HMAC" | { name: "HMAC" }, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  /** Compares in constant time. A signature of ECDSA is both numbers, as in JSON Web Tokens. */
  verify(algorithm: "HMAC" | "RSASSA-PKCS1-v1_5" | { name: "HMAC" | "RSASSA-PKCS1-v1_5" } | { name: "ECDSA"; hash: HashAlgorithm },
    key: CryptoKey, signature: BufferSource, data: BufferSource): Promise<boolean>;
  encrypt(algorithm: AesGcmParams, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  /** OperationError: it was not encrypted like this, or has been changed. */
  decrypt(algorithm: AesGcmParams, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  /** Compares in constant time; throws TypeError if the lengths differ. Not in the standard. */
  timingSafeEqual(a: BufferSource, b: BufferSource): boolean;
}

interface HmacParams {
  name: "HMAC";
  hash: HashAlgorithm;
  /** Of the key, in bits. */
  length?: number;
}

type AesParams = "AES-GCM" | { name: "AES-GCM" };
type PublicKeyParams = { name: "RSASSA-PKCS1-v1_5"; hash: HashAlgorithm } | { name: "ECDSA"; namedCurve: "P-256" | "P-384" | "P-521" };

interface AesGcmParams {
  name: "AES-GCM";
  /** Never the same twice with one key: `crypto.getRandomValues(new Uint8Array(12))`. */
  iv: BufferSource;
  additionalData?: BufferSource;
  tagLength?: 128;
}

interface JsonWebKey {
  kty?: string;
  k?: string;
  n?: string;
  e?: string;
  crv?: string;
  x?: string;
  y?: string;
  alg?: string;
  use?: string;
  key_ops?: string[];
  ext?: boolean;
  [member: string]: unknown;
}

declare class CryptoKey {
  private constructor();
  readonly type: "secret" | "public";
  readonly extractable: boolean;
  readonly algorithm: { readonly name: string; readonly length?: number; readonly hash?: { readonly name: string }; readonly namedCurve?: string };
  readonly usages: readonly KeyUsage[];
}

declare const crypto: {
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  randomUUID(): string;
  readonly subtle: SubtleCrypto;
};

/** Counts from when a call first asks. */
declare const performance: { now(): number; readonly timeOrigin: number };

declare const console: {
  debug(...values: unknown[]): void;
  trace(...values: unknown[]): void;
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  dir(value: unknown): void;
  table(value: unknown): void;
  assert(ok: unknown, ...values: unknown[]): void;
  time(label?: string): void;
  timeEnd(label?: string): void;
  group(...values: unknown[]): void;
  groupEnd(): void;
  count(label?: string): void;
};

declare function structuredClone<T>(value: T): T;
declare function atob(base64: string): string;
declare function btoa(binary: string): string;
declare function queueMicrotask(fn: () => void): void;

/** Puts something behind all that promises have to do. A call cannot wait: the only delay is 0. */
declare function setTimeout(fn: (...args: any[]) => void, delay?: 0, ...args: any[]): number;
declare function clearTimeout(id: number): void;
