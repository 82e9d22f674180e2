// What use.ts needs of Node.js.
declare const process: { argv: string[] };
declare module "node:assert/strict" {
  const assert: {
    equal(actual: unknown, expected: unknown): void;
    deepEqual(actual: unknown, expected: unknown): void;
    match(text: string, pattern: RegExp): void;
    ok(value: unknown): asserts value;
    rejects(promise: Promise<unknown>, error?: Function | ((e: unknown) => boolean)): Promise<void>;
  };
  export default assert;
}
