// Made by `armature client ts`. Do not change it: the next run writes it anew.
import type { DocTypes, Methods } from "./doctypes.js";

export type * from "./doctypes.js";

/** The DocTypes and methods that the client was made with: those that its maker may use. */
export type DocTypeName = keyof DocTypes & string;
export type MethodName = keyof Methods & string;

type Right = "read" | "write" | "create" | "delete" | "submit" | "cancel";
type Having<R extends Right> = { [D in DocTypeName]: R extends DocTypes[D]["rights"] ? D : never }[DocTypeName];
type Answering<V extends string> = { [M in MethodName]: V extends Methods[M]["verbs"] ? M : never }[MethodName];
type Arguments<A> = {} extends A ? [args?: A] : [args: A];

/** A document as it is read. What has no value is null or left out. */
export type Document<D extends DocTypeName> = DocTypes[D]["document"];

type Written<V> = V extends readonly (infer R)[] ? (R extends object ? readonly Partial<R>[] : V) : V;
/** The fields to change. A table that is given replaces the rows; those with a known name stay. */
export type Changes<D extends DocTypeName> = { [F in keyof Document<D>]?: Written<Document<D>[F]> | null };
/** The fields of a new document, with those that a document must have. */
export type Values<D extends DocTypeName> = Changes<D> & {
  [F in DocTypes[D]["mandatory"] & keyof Document<D>]: Written<NonNullable<Document<D>[F]>>;
};

/** The fields that a list may show, filter and order by. */
export type Field<D extends DocTypeName> = Exclude<
  { [F in keyof Document<D>]-?: NonNullable<Document<D>[F]> extends readonly object[] ? never : F }[keyof Document<D>] & string,
  "doctype"
>;

type Condition<F, V> =
  | readonly [field: F, operator: "=" | "!=" | "<" | ">" | "<=" | ">=", value: V | null]
  | readonly [field: F, operator: "in" | "not in", values: readonly V[]]
  | readonly [field: F, operator: "like" | "not like", pattern: string]
  | readonly [field: F, operator: "is", value: "set" | "not set"]
  | readonly [field: F, operator: "between", bounds: readonly [from: V, to: V]]
  | readonly [field: F, operator: "timespan" | "previous" | "next", span: string]
  | readonly [
      field: F,
      operator: "descendants of" | "descendants of (inclusive)" | "not descendants of" | "ancestors of" | "not ancestors of",
      name: string,
    ];
/** A condition on one field: ["status", "=", "Open"]. */
export type Filter<D extends DocTypeName> = { [F in Field<D>]: Condition<F, NonNullable<Document<D>[F & keyof Document<D>]>> }[Field<D>];

export interface Conditions<D extends DocTypeName> {
  /** All of these hold. */
  filters?: readonly Filter<D>[];
  /** One of these holds, if there are any. */
  orFilters?: readonly Filter<D>[];
}

export interface ListOptions<D extends DocTypeName, F extends Field<D>> extends Conditions<D> {
  /** The fields to return; without them only name. */
  fields?: readonly F[];
  orderBy?: { field: Field<D>; descending?: boolean };
  /** How many rows to leave out before the first. */
  start?: number;
  /** The most rows; 20 without it, 0 for all. */
  limit?: number;
}

/** One write of a batch, of which all are stored or none. */
export type Operation =
  | { [D in Having<"create">]: { op: "insert"; doctype: D; doc: Values<D> } }[Having<"create">]
  | { [D in Having<"write">]: { op: "update"; doctype: D; name: string | number; doc: Changes<D> } }[Having<"write">]
  | { [D in Having<"submit">]: { op: "submit"; doctype: D; name: string | number } }[Having<"submit">]
  | { [D in Having<"cancel">]: { op: "cancel"; doctype: D; name: string | number } }[Having<"cancel">]
  | { [D in Having<"delete">]: { op: "delete"; doctype: D; name: string | number } }[Having<"delete">]
  | { [D in Having<"write">]: { op: "rename"; doctype: D; name: string | number; new_name: string; merge?: boolean } }[Having<"write">];
/** What an operation of a batch leaves: the document, the new name, or nothing. */
export type Outcome<O> = O extends { op: "delete" } ? null
  : O extends { op: "rename" } ? string
  : O extends { doctype: infer D extends DocTypeName } ? Document<D>
  : unknown;

export interface UploadOptions {
  /** What the file is called; without it as the File says, or "file". */
  name?: string;
  /** Readable by who may read what it is attached to, or its owner; true without it. */
  private?: boolean;
  /** The document that it is attached to, and the field. */
  attachedTo?: { doctype: DocTypeName; name: string | number; field?: string };
}

/** What the server says of an uploaded file. */
export interface UploadedFile {
  name: string;
  file_name: string;
  file_url: string;
  is_private: 0 | 1;
  file_size: number;
  [field: string]: unknown;
}

export interface LoginAnswer {
  message: string;
  full_name: string;
  home_page: string;
}

/** What is followed: a list, a document, or what a method's plugin publishes. */
export type Followed =
  | { [D in Having<"read">]: { doctype: D; name?: never; topic?: never; fields?: readonly Field<D>[] } & Conditions<D> }[Having<"read">]
  | { [D in Having<"read">]: { doctype: D; name: string; topic?: never } }[Having<"read">]
  | { topic: MethodName; doctype?: never; name?: never };

/** What is told of what is followed. */
export type Live<S> =
  /** From now on everything is told: what there is already is to be asked for now. */
  | { type: "ready" }
  /** Something was missed: what there is is to be asked for again. */
  | { type: "gap" }
  | { type: "changed"; name: string; data: LiveData<S> }
  /** It is gone, or meets the filters no more, or may not be read any more. */
  | { type: "removed"; name: string }
  /** After a reconnect: the names of all rows there are; others are gone. */
  | { type: "rows"; names: string[] }
  | { type: "message"; data: unknown };

type LiveData<S> = S extends { doctype: infer D extends DocTypeName }
  ? S extends { name: string } ? Document<D>
  : S extends { fields: readonly (infer F)[] } ? Pick<Document<D>, F & keyof Document<D>>
  : Pick<Document<D>, ("name" | "modified") & keyof Document<D>>
  : never;

export interface LiveOptions {
  /** Ends it. */
  signal?: AbortSignal;
}

/** An answer that is an error. */
export class ArmatureError extends Error {
  /** Of HTTP. */
  readonly status: number;
  /** What it is about, such as DoesNotExistError. */
  readonly exc_type: string;
  /** By which the server's log names the request; empty: not said. */
  readonly requestId: string;
  /** Seconds after which to try again; undefined: not said. */
  readonly retryAfter: number | undefined;

  constructor(status: number, exc_type: string, message: string, requestId = "", retryAfter?: number) {
    super(message);
    this.name = "ArmatureError";
    this.status = status;
    this.exc_type = exc_type;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

export interface Options {
  /** Where the site is, such as https://shop.example.org; without it that of the page. */
  url?: string;
  /** An API key and its secret: key:secret. */
  key?: string;
  /** An OAuth access token. */
  token?: string;
  /** The CSRF token of the page's session, where a page of the server has given one out. */
  csrfToken?: string;
  /** Whether a browser sends its cookies to the site's origin; "include" for another one. After login() it does. */
  credentials?: RequestCredentials;
  /** In place of the platform's own fetch. */
  fetch?: typeof fetch;
}

interface Sent {
  query?: { [name: string]: unknown };
  body?: unknown;
  form?: FormData;
  headers?: { [name: string]: string };
  signal?: AbortSignal;
}

/** A site, as one user. */
export class Armature {
  readonly #url: string;
  readonly #headers: { [name: string]: string } = { Accept: "application/json" };
  readonly #fetch: typeof fetch;
  readonly #cookies = new Map<string, string>(); // where no browser keeps them
  #credentials: RequestCredentials;

  constructor(options: Options = {}) {
    const url = options.url ?? (globalThis as { location?: { origin: string } }).location?.origin;
    if (!url) throw new TypeError("where is the site? Give its url");
    this.#url = new URL(url).href.replace(/\/+$/, "");
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.#credentials = options.credentials ?? "same-origin";
    if (options.key && options.token) throw new TypeError("either a key or a token, not both");
    if (options.key) this.#headers["Authorization"] = `token ${options.key}`;
    if (options.token) this.#headers["Authorization"] = `Bearer ${options.token}`;
    if (options.key || options.token) this.#credentials = options.credentials ?? "omit";
    if (options.csrfToken) this.#headers["X-Framework-CSRF-Token"] = options.csrfToken;
  }

  /** Begins a session. A browser keeps its cookie; elsewhere this object does. */
  async login(user: string, password: string): Promise<LoginAnswer> {
    if (this.#credentials !== "include") this.#credentials = "include";
    return (await this.#json("POST", "/api/method/login", { body: { usr: user, pwd: password } })) as LoginAnswer;
  }

  async logout(): Promise<void> {
    await this.#json("POST", "/api/method/logout", {});
    this.#cookies.clear();
  }

  async read<D extends Having<"read">>(doctype: D, name: string | number): Promise<Document<D>> {
    return this.#data("GET", documentPath(doctype, name), {});
  }

  /** The one document of a Single. */
  async single<D extends Having<"read"> & { [S in DocTypeName]: DocTypes[S]["single"] extends true ? S : never }[DocTypeName]>(doctype: D): Promise<Document<D>> {
    return this.#data("GET", documentPath(doctype, doctype), {});
  }

  async create<D extends Having<"create">>(doctype: D, values: Values<D>): Promise<Document<D>> {
    return this.#data("POST", documentPath(doctype), { body: values });
  }

  /** Changes the given fields. With `modified` among them it is refused if somebody else has changed the document since. */
  async update<D extends Having<"write">>(doctype: D, name: string | number, changes: Changes<D>): Promise<Document<D>> {
    return this.#data("PUT", documentPath(doctype, name), { body: changes });
  }

  async submit<D extends Having<"submit">>(doctype: D, name: string | number): Promise<Document<D>> {
    return this.#data("PUT", documentPath(doctype, name), { body: { docstatus: 1 } });
  }

  async cancel<D extends Having<"cancel">>(doctype: D, name: string | number): Promise<Document<D>> {
    return this.#data("PUT", documentPath(doctype, name), { body: { docstatus: 2 } });
  }

  async delete<D extends Having<"delete">>(doctype: D, name: string | number): Promise<void> {
    await this.#json("DELETE", documentPath(doctype, name), {});
  }

  async list<D extends Having<"read">, F extends Field<D> = "name" & Field<D>>(doctype: D, options: ListOptions<D, F> = {}): Promise<Pick<Document<D>, F & keyof Document<D>>[]> {
    const { fields, filters, orFilters, orderBy, start, limit } = options;
    return this.#data("GET", documentPath(doctype), {
      query: {
        fields, filters, or_filters: orFilters, limit_start: start, limit_page_length: limit,
        order_by: orderBy && `${orderBy.field} ${orderBy.descending ? "desc" : "asc"}`,
      },
    });
  }

  async count<D extends Having<"read">>(doctype: D, conditions: Conditions<D> = {}): Promise<number> {
    const { filters, orFilters } = conditions;
    return this.#message("GET", "framework.client.get_count", { query: { doctype, filters, or_filters: orFilters } });
  }

  /** Writes in one transaction: all are stored, or none. */
  async batch<const O extends readonly Operation[]>(operations: O): Promise<{ -readonly [I in keyof O]: Outcome<O[I]> }> {
    return this.#message("POST", "framework.client.batch", { body: { operations } });
  }

  /** Calls a method, which may change something. */
  async call<M extends Answering<"POST">>(method: M, ...args: Arguments<Methods[M]["args"]>): Promise<Methods[M]["result"]> {
    return this.#message("POST", method, { body: args[0] ?? {} });
  }

  /** Calls a method that only reads: nothing that it changes is kept. */
  async query<M extends Answering<"GET">>(method: M, ...args: Arguments<Methods[M]["args"]>): Promise<Methods[M]["result"]> {
    return this.#message("GET", method, { query: { ...args[0] } });
  }

  async upload(file: Blob, options: UploadOptions = {}): Promise<UploadedFile> {
    const form = new FormData();
    form.append("is_private", options.private === false ? "0" : "1");
    if (options.attachedTo) {
      form.append("doctype", options.attachedTo.doctype);
      form.append("docname", String(options.attachedTo.name));
      if (options.attachedTo.field) form.append("fieldname", options.attachedTo.field);
    }
    form.append("file", file, options.name ?? (file as { name?: string }).name ?? "file");
    return this.#message("POST", "upload_file", { form });
  }

  /**
   * Tells what changes, as it changes, until the loop is left or the signal ends it. It comes again by itself when
   * the connection is lost, and goes on from where it was. Whoever may not follow it, or not any more, gets an error.
   */
  async *live<const S extends Followed>(followed: S, options: LiveOptions = {}): AsyncGenerator<Live<S>, void, undefined> {
    const stop = new AbortController();
    const ended = () => stop.abort();
    options.signal?.addEventListener("abort", ended);
    if (options.signal?.aborted) stop.abort();
    const { orFilters, ...rest } = followed as { orFilters?: unknown };
    const query = { subscribe: JSON.stringify([{ ...rest, or_filters: orFilters }]) };
    let last = "", wait = 1000, ready = false;
    try {
      while (!stop.signal.aborted) {
        let failed: unknown;
        try {
          const response = await this.#send("GET", "/api/live", { query, signal: stop.signal, headers: last ? { "Last-Event-ID": last } : {} });
          for await (const event of eventsOf(response)) {
            wait = event.retry ?? wait;
            if (event.id !== undefined) last = event.id;
            if (event.data === undefined) continue;
            const told = JSON.parse(event.data) as { exc_type?: string; message?: string };
            if (event.type === "end") {
              if (told.exc_type !== "ServiceUnavailable") throw new ArmatureError(403, told.exc_type ?? "", told.message ?? "");
              continue;
            }
            if (event.type === "ready" && ready) continue; // it goes on
            ready = true;
            yield { ...told, type: event.type } as unknown as Live<S>;
          }
        } catch (error) {
          if (error instanceof ArmatureError && error.status !== 429 && error.status < 500) throw error;
          failed = error;
        }
        if (stop.signal.aborted) return;
        const pause = failed instanceof ArmatureError && failed.retryAfter ? failed.retryAfter * 1000 : wait;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pause * (0.5 + Math.random())); // not all at once
          stop.signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
        });
      }
    } finally {
      options.signal?.removeEventListener("abort", ended);
      stop.abort();
    }
  }

  /** The bytes of a file by its file_url, which is one of this site's. */
  async download(fileUrl: string): Promise<Blob> {
    const url = new URL(fileUrl, this.#url + "/");
    if (url.origin !== new URL(this.#url).origin || !/^\/(private\/)?files\//.test(url.pathname)) {
      throw new TypeError(`${fileUrl} is no file of this site`);
    }
    return (await this.#send("GET", url.pathname + url.search, {})).blob();
  }

  async #data<T>(verb: string, path: string, sent: Sent): Promise<T> {
    return ((await this.#json(verb, path, sent)) as { data: T }).data;
  }

  async #message<T>(verb: string, method: string, sent: Sent): Promise<T> {
    const answer = (await this.#json(verb, "/api/method/" + segment(method), sent)) as { message?: T };
    return (answer.message ?? null) as T;
  }

  async #json(verb: string, path: string, sent: Sent): Promise<unknown> {
    return (await this.#send(verb, path, sent)).json();
  }

  async #send(verb: string, path: string, { query, body, form, headers: more, signal }: Sent): Promise<Response> {
    const headers: { [name: string]: string } = { ...this.#headers, ...more };
    const request: RequestInit = { method: verb, headers, credentials: this.#credentials };
    if (signal) request.signal = signal;
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
      request.body = JSON.stringify(body);
    } else if (form) {
      request.body = form;
    }
    if (this.#cookies.size > 0) headers["Cookie"] = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await this.#fetch(this.#url + path + queryText(query), request);
    this.#keep(response);
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  /** Keeps cookies where scripts are shown them, which is nowhere but outside of browsers. */
  #keep(response: Response): void {
    for (const line of response.headers.getSetCookie?.() ?? []) {
      const [pair = ""] = line.split(";", 1);
      const at = pair.indexOf("=");
      if (at > 0) this.#cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
  }
}

interface StreamEvent {
  type: string;
  data?: string;
  id?: string;
  retry?: number;
}

/** The events of a stream (Server-Sent Events), and beside them what only says where it is. */
async function* eventsOf(response: Response): AsyncGenerator<StreamEvent, void, undefined> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "", event: StreamEvent = { type: "message" };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n")) {
        const line = text.slice(0, at);
        text = text.slice(at + 1);
        const colon = line.indexOf(":");
        const name = colon < 0 ? line : line.slice(0, colon), rest = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (line === "") {
          yield event;
          event = { type: "message" };
        } else if (name === "event") event.type = rest;
        else if (name === "data") event.data = event.data === undefined ? rest : event.data + "\n" + rest;
        else if (name === "id") event.id = rest;
        else if (name === "retry" && /^\d+$/.test(rest)) event.retry = Number(rest);
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined); // a lost connection has nothing to cancel
  }
}

function documentPath(doctype: string, name?: string | number): string {
  return "/api/resource/" + segment(doctype) + (name === undefined ? "" : "/" + segment(String(name)));
}

/** A part of a path. What would be a step of one, written out or not, leads elsewhere and is refused. */
function segment(name: string): string {
  if (name === "" || name === "." || name === "..") throw new TypeError(`${JSON.stringify(name)} cannot be named in an address`);
  return encodeURIComponent(name);
}

/** Arguments in an address: text as it is, anything else as JSON. */
function queryText(query: { [name: string]: unknown } | undefined): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) text.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return text.size > 0 ? "?" + text : "";
}

async function errorOf(response: Response): Promise<ArmatureError> {
  let told: { exc_type?: unknown; message?: unknown } = {};
  try {
    told = ((await response.json()) as typeof told | null) ?? {};
  } catch {
    // A proxy may answer with a page of its own.
  }
  const wait = Number(response.headers.get("Retry-After") ?? NaN);
  return new ArmatureError(
    response.status,
    typeof told.exc_type === "string" ? told.exc_type : "",
    typeof told.message === "string" && told.message ? told.message : `${response.status} ${response.statusText}`.trim(),
    response.headers.get("X-Framework-Request-Id") ?? "",
    Number.isFinite(wait) ? wait : undefined,
  );
}
