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
  /**
   * Throws NotFoundError, PermissionError. With lock nobody else changes the document
   * until the call ends.
   */
  get<T = Doc>(doctype: string, name: string, options?: { lock?: boolean }): T;
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
declare function enqueue(method: string, args?: object, options?: { delay_s?: number; run_at?: string; unique?: string; attempts?: number }): string;

/**
 * Tells those who follow a method of this plugin (`GET /api/live?topic=...`) something, once what
 * the call does is kept: all who may call the method, or one user. Needs the grant `publish`.
 */
declare function publish(topic: string, data?: unknown, options?: { user?: string }): void;

/**
 * Sends each recipient a letter, once what the call does is kept, and returns the jobs: a subject and
 * a text, or an `Email Template` and values for it. Needs the grant `sendmail`.
 */
declare function sendmail(letter: { recipients: string | string[]; subject?: string; text?: string; email_template?: string; values?: object; attachments?: string[] }): string[];

/**
 * Checks that the request was signed as Standard Webhooks says, by one of the secrets
 * (`whsec_...`), and not more than `tolerance` seconds (300) ago. Throws AuthenticationError.
 */
declare function verifyWebhook(secrets: string | string[], options?: { tolerance?: number }): Signed;

/** What a signed message is: its id, and when it was sent, in seconds since 1970. */
interface Signed {
  id: string;
  timestamp: number;
}

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
  /** The route of the manifest by which it came; undefined: it came by the method's path. */
  readonly route?: string;
  /** Where the plugin's pages are, for links to them; it does not end in a slash. */
  readonly base: string;
  bytes(): Uint8Array;
  json(): any;
};

/** Answers the request with a page or bytes of one's own in place of `{"message": ...}`, once the method has returned. */
declare function respond(answer: { status?: number; headers?: HeadersInit; body?: BodyInit; html?: string | Html }): void;

/** Text that is HTML already. */
interface Html { toString(): string; }

/** Makes HTML of a template: html`<p>${text}</p>`. What is put in is escaped; HTML, and lists of it, are put in as they are. */
declare function html(parts: TemplateStringsArray, ...values: unknown[]): Html;

/** Says something to the user of the request beside the answer, if the request succeeds. */
declare function tell(message: string, options?: { title?: string; indicator?: "blue" | "green" | "orange" | "red" | "yellow" | "gray" }): void;

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
// begin generated: errors
// Code generated by "make generate" from sdk/abi/contract.json; DO NOT EDIT.
/** 417: understood and refused by a rule. */
declare class ValidationError extends ArmatureError {}
/** 401: credentials are wrong. */
declare class AuthenticationError extends ArmatureError {}
/** 403: the caller may not do this. */
declare class PermissionError extends ArmatureError {}
/** 404: no such thing for this caller. */
declare class NotFoundError extends ArmatureError {}
/** 409: the name is taken. */
declare class ConflictError extends ArmatureError {}
/** 410: past its use. */
declare class GoneError extends ArmatureError {}
/** 413: over the limit. */
declare class TooLargeError extends ArmatureError {}
/** 415: a content type that is not read. */
declare class UnsupportedMediaError extends ArmatureError {}
/** 429: a budget is used up. */
declare class TooManyRequestsError extends ArmatureError {}
/** 503: try again later. */
declare class UnavailableError extends ArmatureError {}
/** 400: malformed. */
declare class BadRequestError extends ArmatureError {}
/** 504: took longer than its limit. */
declare class TimeoutError extends ArmatureError {}
/** 501: this server cannot do it. */
declare class NotImplementedError extends ArmatureError {}
/** 405: a known path without this verb. */
declare class MethodNotAllowedError extends ArmatureError {}
/** 500: a limit other than time is used up. */
declare class ExhaustedError extends ArmatureError {}
// end generated: errors

/** Asks the host for what has no function of its own here, by the name that the contract has for it. */
declare function ask<Name extends keyof Capabilities>(name: Name, request: Capabilities[Name]["request"]): Capabilities[Name]["answer"];

// begin generated: capabilities
// Code generated by "make generate" from sdk/abi/contract.json; DO NOT EDIT.

/** What the host can be asked for, name by name. */
interface Capabilities {
  /**
   * Reads a document. Null fields are left out, child tables are arrays, and fields the caller may
   * not read are absent.
   *
   * Request: doctype, the DocType's name; name, the document's name; lock, keep others from
   * changing the document until the call ends; needs the right to write, and does nothing in a GET
   * (may be missing).
   * Answer: the document.
   * Errors: NotFound; Permission.
   */
  doc_get: {
    request: { doctype: string; name: string; lock?: boolean };
    answer: Doc;
  };

  /**
   * Lists documents that the caller may read. It takes what GET /api/resource/:doctype takes, as
   * JSON values instead of text; filters, or_filters and the caller's permissions are combined with
   * AND.
   *
   * Request: doctype, the DocType's name; fields, the fields of a row; only name without it (may be
   * missing); filters, all of these hold (may be missing); or_filters, at least one of these holds
   * (may be missing); order_by, field asc or field desc; modified desc without it (may be missing);
   * group_by, the field by which rows are gathered (may be missing); limit_start, rows to skip (may
   * be missing); limit_page_length, rows to return: 20 without it, all of them with 0 (may be
   * missing).
   * Answer: rows, with their nulls.
   * Errors: Permission; Validation (DataError: no such field or operator).
   */
  doc_list: {
    request: { doctype: string; fields?: string[]; filters?: [field: string, operator: string, value: unknown][]; or_filters?: [field: string, operator: string, value: unknown][]; order_by?: string; group_by?: string; limit_start?: number; limit_page_length?: number };
    answer: { [name: string]: any }[];
  };

  /**
   * Counts the documents that the caller may read.
   *
   * Request: doctype, the DocType's name; filters, all of these hold (may be missing); or_filters,
   * at least one of these holds (may be missing).
   * Answer: of type integer.
   * Errors: Permission; Validation (DataError: no such field or operator).
   */
  doc_count: {
    request: { doctype: string; filters?: [field: string, operator: string, value: unknown][]; or_filters?: [field: string, operator: string, value: unknown][] };
    answer: number;
  };

  /**
   * Stores a new document: it is named, validated and written as by POST /api/resource/:doctype,
   * its events and links included.
   *
   * Request: doc, its fields, doctype among them.
   * Answer: the document.
   * Errors: Validation; Conflict; Permission.
   */
  doc_insert: {
    request: { doc: { [name: string]: any } };
    answer: Doc;
  };

  /**
   * Changes the given fields of a document and leaves the others. A child table that is given
   * replaces the stored one. modified among the fields is a condition: if the stored one differs,
   * the update fails. A number can be changed relative to what is stored: {"stock": {"$inc": -2,
   * "$min": 0}} as a field takes two from the stock unless that leaves less than none; $min and
   * $max are optional. Fields that the DocType does not have are listed as _unknown_fields in the
   * answer.
   *
   * Request: doctype, the DocType's name; name, the document's name; doc, the fields to change.
   * Answer: the document.
   * Errors: NotFound; Validation (TimestampMismatchError: modified differs); Permission.
   */
  doc_update: {
    request: { doctype: string; name: string; doc: { [name: string]: any } };
    answer: Doc;
  };

  /**
   * Removes a document and its child rows.
   *
   * Request: doctype, the DocType's name; name, the document's name.
   * Answer: null.
   * Errors: NotFound; Validation (LinkExistsError: another document points at it); Permission.
   */
  doc_delete: {
    request: { doctype: string; name: string };
    answer: null;
  };

  /**
   * Submits a document: docstatus goes from 0 to 1.
   *
   * Request: doctype, the DocType's name; name, the document's name.
   * Answer: the document.
   * Errors: NotFound; Validation; Permission.
   */
  doc_submit: {
    request: { doctype: string; name: string };
    answer: Doc;
  };

  /**
   * Cancels a submitted document: docstatus goes from 1 to 2.
   *
   * Request: doctype, the DocType's name; name, the document's name.
   * Answer: the document.
   * Errors: NotFound; Validation; Permission.
   */
  doc_cancel: {
    request: { doctype: string; name: string };
    answer: Doc;
  };

  /**
   * Calls a method of this or another plugin, or of the platform, in the same transaction for the
   * same caller, in an instance of its own. If it fails, what it wrote is undone, and the caller of
   * it may carry on. Calls nest 8 deep.
   *
   * Request: method, the method's dotted path; args, its arguments (may be missing).
   * Answer: the method's result.
   * Errors: Validation: there is no such method; Permission; and whatever it throws.
   */
  method_call: {
    request: { method: string; args?: { [name: string]: any } };
    answer: any;
  };

  /**
   * Tells who is acting. The user is Guest without credentials.
   *
   * Request: an empty object.
   * Answer: an object with user, full_name, roles.
   * Errors: none of its own.
   */
  caller_get: {
    request: { [name: string]: any };
    answer: { user: string; full_name?: string; roles: string[] };
  };

  /**
   * Reads a setting of the plugin on this site.
   *
   * Request: key, the setting's name.
   * Answer: the value; null if it is not set.
   * Errors: none of its own.
   */
  config_get: {
    request: { key: string };
    answer: any;
  };

  /**
   * Reads a key of the plugin's store on this site.
   *
   * Request: key, text of 1 to 255 bytes.
   * Answer: the value; null if it is absent or expired.
   * Errors: none of its own.
   */
  kv_get: {
    request: { key: string };
    answer: any;
  };

  /**
   * Writes a key of the plugin's store on this site. The store is a cache: a key may go at any
   * time. In a GET nothing is written.
   *
   * Request: key, text of 1 to 255 bytes; value, what is kept; ttl_s, how long, in seconds; without
   * it the key stays (may be missing).
   * Answer: null.
   * Errors: TooLarge.
   */
  kv_set: {
    request: { key: string; value: any; ttl_s?: number };
    answer: null;
  };

  /**
   * Removes a key of the plugin's store on this site; one that is absent is no error.
   *
   * Request: key, text of 1 to 255 bytes.
   * Answer: null.
   * Errors: none of its own.
   */
  kv_delete: {
    request: { key: string };
    answer: null;
  };

  /**
   * Sends an HTTP request to one of the manifest's allowed_hosts and follows redirects among those.
   * A status of 400 or more is an answer, not an error. It comes before the first document call of
   * the request's transaction, or the method says tx: manual.
   *
   * Request: method, GET without it (may be missing); url, https, or http where the site allows it;
   * headers, the request's headers (may be missing); body, the body, if it is text (may be
   * missing); body_base64, the body, if it is bytes: standard base64 with padding (may be missing);
   * timeout_ms, milliseconds (may be missing).
   * Answer: an object with status, headers, body, body_base64.
   * Errors: Permission; Validation; Unavailable; Timeout; TooLarge.
   */
  http_fetch: {
    request: { method?: string; url: string; headers?: { [name: string]: string }; body?: string; body_base64?: string; timeout_ms?: number };
    answer: { status: number; headers?: { [name: string]: string }; body?: string; body_base64?: string };
  };

  /**
   * Sends an HTTP request with the token that a Connected App holds for the caller of the method;
   * the plugin never sees the token. It goes to the app's allowed_hosts only.
   *
   * Request: app, the name of a Connected App; as, app for the app's own token instead of the
   * caller's (may be missing); method, GET without it (may be missing); url, https, or http where
   * the site allows it; headers, the request's headers (may be missing); body, the body, if it is
   * text (may be missing); body_base64, the body, if it is bytes: standard base64 with padding (may
   * be missing); timeout_ms, milliseconds (may be missing).
   * Answer: an object with status, headers, body, body_base64.
   * Errors: Permission; Validation (NotConnectedError: the caller has to connect first); Validation
   * (ConnectionBrokenError: the caller has to connect anew); Unavailable; Timeout; TooLarge.
   */
  connected_request: {
    request: { app: string; as?: "app"; method?: string; url: string; headers?: { [name: string]: string }; body?: string; body_base64?: string; timeout_ms?: number };
    answer: { status: number; headers?: { [name: string]: string }; body?: string; body_base64?: string };
  };

  /**
   * Tells of the HTTP request that made the call, without its credentials.
   *
   * Request: an empty object.
   * Answer: an object with method, path, query, headers, body, body_base64, route, base.
   * Errors: NotFound: the call did not come by HTTP.
   */
  request_get: {
    request: { [name: string]: any };
    answer: { method: string; path: string; query?: string; headers?: { [name: string]: string }; body?: string; body_base64?: string; route?: string; base?: string };
  };

  /**
   * Answers the HTTP request that made the call with a page or bytes of the plugin's own instead of
   * the method's result, once the method has returned.
   *
   * Request: status, 200 to 599; 200 without it (may be missing); headers, some headers are allowed
   * only (may be missing); body, the body, if it is text (may be missing); body_base64, the body,
   * if it is bytes: standard base64 with padding (may be missing); html, the body, if it is a page:
   * its content-type is that of HTML (may be missing).
   * Answer: null.
   * Errors: Validation: status or header not allowed; NotFound: the call did not come by HTTP.
   */
  respond: {
    request: { status?: number; headers?: { [name: string]: string }; body?: string; body_base64?: string; html?: string };
    answer: null;
  };

  /**
   * Checks that the HTTP request which made the call was signed with one of the secrets, as
   * Standard Webhooks says (https://www.standardwebhooks.com): HMAC-SHA256 over `webhook-id`,
   * `webhook-timestamp` and the body as it was sent. One right signature among those of
   * `webhook-signature` is enough, and of several secrets any may be right, so that either can be
   * changed; they are compared in constant time. What is older than `tolerance_s`, or as far in the
   * future, is refused. A receiver keeps the id, and takes each once.
   *
   * Request: secrets, 1 to 8, each `whsec_` and a key in base64; tolerance_s, how many seconds the
   * sender's clock may be away, up to 86400; 300 without it (may be missing).
   * Answer: an object with id, timestamp.
   * Errors: Authentication: it is not signed so, or too old; BadRequest: a secret that is none;
   * NotFound: the call did not come by HTTP.
   */
  webhook_verify: {
    request: { secrets: string[]; tolerance_s?: number };
    answer: { id: string; timestamp: number };
  };

  /**
   * Tells the user of the request something beside the answer, in `_server_messages`, if the
   * request succeeds. It works in a method, in one that is called by another and in an event
   * handler. The text may hold simple markup; what could run is taken out. What a call says that
   * fails, and is caught, is not told. A request tells at most 50 messages and 65536 bytes; what
   * goes beyond is counted and left out. Where nobody listens, and beside an answer of `respond`,
   * nothing is told.
   *
   * Request: message, what is said: 1 to 4096 bytes; title, its heading: plain text of at most 140
   * characters (may be missing); indicator, blue, green, orange, red, yellow or gray; blue without
   * it (may be missing).
   * Answer: null.
   * Errors: Validation: no message, one that is too long, another colour.
   */
  tell: {
    request: { message: string; title?: string; indicator?: string };
    answer: null;
  };

  /**
   * Has a method run later, as the same caller, if the request's transaction is committed. It is
   * called with POST, outside of a transaction until it first writes; what it writes happens once,
   * what it asks other servers for at least once, with the header `Idempotency-Key`. A call that
   * fails is tried again, later each time, until its attempts are used up. A method that answers
   * `{"next": cursor}` is called again, in a step of its own, with its arguments and `cursor`.
   * `unique`: while a call with the same key of this plugin waits or runs, there is no other, and
   * the answer is that one's id. Who enqueued it narrows it: what the caller, the token and the
   * plugin may not do any more when it runs, it may not. In a GET nothing is enqueued and the id is
   * empty.
   *
   * Request: method, the method's dotted path; args, its arguments, at most 65536 bytes of JSON
   * (may be missing); delay_s, not before so many seconds have passed (may be missing); run_at, not
   * before this time, with its zone (RFC 3339) (may be missing); unique, a key of 1 to 140 bytes
   * (may be missing); attempts, how often it is tried, 1 to 25; 8 without it (may be missing).
   * Answer: an object with job.
   * Errors: NotFound: there is no such method; Permission; Validation: arguments that are too long,
   * and too many jobs that wait (QuotaExceededError).
   */
  enqueue: {
    request: { method: string; args?: { [name: string]: any }; delay_s?: number; run_at?: string; unique?: string; attempts?: number };
    answer: { job: string };
  };

  /**
   * Tells those who follow a method over `GET /api/live` something, once the request's transaction
   * is committed. The topic is the path of a method of the plugin's own, and who may call that may
   * follow it: whether they may is asked when they are told. With `user` that user alone is told.
   * Who comes later is not told. In a GET nothing is published.
   *
   * Request: topic, the path of a method of the plugin's own; data, what is told: any JSON of at
   * most 65536 bytes (may be missing); user, the one user who is told; without it all who may call
   * the method (may be missing).
   * Answer: null.
   * Errors: NotFound: there is no such method; Permission: the method is none of the plugin's own;
   * Validation: data that is too long.
   */
  publish: {
    request: { topic: string; data?: any; user?: string };
    answer: null;
  };

  /**
   * Sends each recipient a letter of its own, if the request's transaction is committed: by a job,
   * which is tried again while the mail server is away. It says `subject` and `text`, as plain
   * text, or what an `Email Template` says with `values` put for its `{{ name }}`. What is
   * attached, and the template, the caller has to be able to read, now and when it is sent. A site
   * sends so many letters a day as its setting `mail_per_day` says. In a GET nothing is sent, and
   * there are no jobs.
   *
   * Request: recipients, 1 to 50 addresses; nobody sees the others; subject, at most 1000 bytes
   * (may be missing); text, at most 49152 bytes (may be missing); email_template, the name of an
   * Email Template, in place of subject and text (may be missing); values, what is put into the
   * template; one that is missing is an error (may be missing); attachments, URLs of at most 10
   * files, of 10 MiB together (may be missing).
   * Answer: an object with jobs.
   * Errors: Validation: no recipients, something that is no address, no mail server; NotFound: no
   * such template or file; Permission; TooLarge; TooManyRequests: the letters of the day are used
   * up.
   */
  sendmail: {
    request: { recipients: string[]; subject?: string; text?: string; email_template?: string; values?: { [name: string]: any }; attachments?: string[] };
    answer: { jobs: string[] };
  };
}
// end generated: capabilities

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
