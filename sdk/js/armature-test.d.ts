// What the tests of a script import; README.md describes it. `armature plugin test`
// runs them and needs neither this file nor any other program.
/// <reference path="armature.d.ts" />

declare module "armature:test" {
  /** Notes a test. It fails if its function throws, or if the promise that the function returns is rejected. */
  export const test: {
    (name: string, fn: () => unknown): void;
    /** Notes a test that is not run. */
    skip(name: string, fn?: () => unknown): void;
  };

  /** A class of the error, a pattern of its message, or members it has, where a pattern may stand for a text. */
  type Expected = (abstract new (...args: any[]) => unknown) | RegExp | { message?: string | RegExp; type?: string | RegExp; [member: string]: unknown };

  interface Assert {
    /** The value is true, or counts as true. */
    (value: unknown, message?: string): asserts value;
    ok(value: unknown, message?: string): asserts value;
    /** The same value, as `Object.is` has it. */
    equal(actual: unknown, expected: unknown, message?: string): void;
    notEqual(actual: unknown, unexpected: unknown, message?: string): void;
    /** The same content, down to the last member. */
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    match(text: string, pattern: RegExp, message?: string): void;
    /** Returns what was thrown. */
    throws(fn: () => unknown, expected?: Expected, message?: string): any;
    /** `throws` for a promise, or for a function that returns one. */
    rejects(work: Promise<unknown> | (() => Promise<unknown>), expected?: Expected, message?: string): Promise<any>;
    fail(message?: string): never;
    AssertionError: new (message?: string) => Error;
  }

  export const assert: Assert;

  interface User {
    name: string;
    fullName: string;
    roles: string[];
  }

  interface Line {
    level: "debug" | "info" | "warn" | "error";
    message: string;
    attributes?: { [name: string]: any };
  }

  /** What a script asks the host for, by the names of sdk/abi/abi.md. */
  type Capability =
    | "doc_get" | "doc_list" | "doc_count" | "doc_insert" | "doc_update" | "doc_delete" | "doc_submit" | "doc_cancel"
    | "method_call" | "enqueue" | "caller_get" | "config_get" | "request_get" | "respond"
    | "kv_get" | "kv_set" | "kv_delete" | "http_fetch" | "connected_request";

  /** Stands in for the server. Every test finds it as it was when the file had been loaded. */
  export const host: {
    /** Stores a document as it is, with the standard fields it lacks, and returns it. */
    put<T = Doc>(doctype: string, fields?: object): T;
    /** The stored document. */
    doc<T = Doc>(doctype: string, name: string): T | null;
    /** All stored documents of a DocType, the oldest first. */
    docs<T = Doc>(doctype: string): T[];

    /**
     * Calls a method as a client does, by its path, by the name of its function, or the function itself:
     * verb, roles and arguments are checked by the manifest, arguments and result go through JSON, and
     * what was written is gone if it fails or if the verb is GET. Without `verb` it is POST.
     */
    call<T = any>(method: string | ((...args: any[]) => unknown), args?: object, options?: { verb?: string }): Promise<T>;

    /** Replaces an answer of the host. `standard` gives the usual one. What the function throws, the script catches. */
    on(capability: Capability, answer: (request: any, standard: () => any) => unknown): void;
    /** Registers a method of another plugin, for `call`. */
    method(path: string, fn: (args: any) => unknown): void;
    /** The requests to a capability, in order; without a name, all of them. */
    asked(capability: Capability): any[];
    asked(): { capability: Capability; request: any }[];

    /** Who calls. A name alone is a user with the role All, or Guest. */
    get user(): User;
    set user(who: string | { name: string; fullName?: string; roles?: string[] });
    /** The plugin's settings, for `config`. */
    config: { [key: string]: unknown };
    /** The HTTP request, or what of it differs from the one that `host.call` makes up; null: there is none. */
    request: { method?: string; path?: string; query?: string; headers?: HeadersInit; body?: BodyInit } | null;
    /** What `respond` has answered in the latest call; null: nothing. */
    readonly reply: { status: number; headers: { [name: string]: string }; body: string | Uint8Array } | null;
    /** What has been logged in this test. */
    readonly log: Line[];
    /** The time, which stands still: 2026-01-02T03:04:05Z until it is set. */
    get now(): Date;
    set now(at: Date | string | number);
  };
}
