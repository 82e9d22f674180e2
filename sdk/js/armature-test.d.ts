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

  /** Runs a function at the beginning of each test, on its fresh site. */
  export function beforeEach(fn: () => unknown): void;

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

  type Body = string | URLSearchParams | ArrayBuffer | ArrayBufferView;

  /** What a URL answers. A body that is an object is sent as JSON. */
  interface Answer {
    /** 200 without it. */
    status?: number;
    headers?: { [name: string]: string };
    body?: Body | object;
    /** The request fails with this message instead, and with an error of the kind and type. */
    failure?: string;
    kind?: number;
    type?: string;
  }

  interface Message {
    headers: { [name: string]: string };
    /** Bytes, if it is no text. */
    body: string | Uint8Array;
  }

  /**
   * The fresh site that each test has, with the plugin on it. Documents are reached by `doc` and the other globals: each
   * call is done and committed at once, as whoever acts: the Administrator, until `actAs` says otherwise.
   */
  export const site: {
    /**
     * Calls a method as a client does, by its path, by the name of its function, or the function itself. The plugin runs
     * as on a server, from its clean state. Without `verb` it is POST; a `body` is sent in place of the arguments.
     */
    call<T = any>(method: string | ((...args: any[]) => unknown), args?: object, options?: { verb?: string; headers?: { [name: string]: string }; body?: Body }): T;
    /** What `respond` has answered in the latest call; null: nothing. */
    readonly reply: (Message & { status: number }) | null;
    /** The messages for the user in the answer of the latest call. */
    readonly messages: string[];
    /** Says who acts: a user of the site with its roles, or, with roles, any user with those. */
    actAs(user: string, ...roles: string[]): void;
    /** Stops the clock of the site, of the plugin and of the test. */
    clock(at: Date | string | number): void;
    /** Has random numbers repeat. */
    seed(seed: number): void;
    /** Sets what `config` reads; null: it is not set. */
    configure(key: string, value: unknown): void;
    /** Says what the next request to a URL is answered. Nothing leaves the machine: a request to a URL without an answer fails. */
    answer(url: string, answer?: Answer): void;
    /** The requests that were sent on this site, in their order; `app` is the Connected App of one. */
    fetched(): (Message & { method: string; url: string; app?: string })[];
    /** Begins another fresh site. */
    fresh(): void;
  };
}
