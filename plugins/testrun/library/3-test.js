// Tests are noted while their file is loaded. Each is then run in a clone of what
// was loaded, so nothing of one is seen by another.

const tests = [];
const before = [];
let running = false;

function note(name, fn, skipped) {
  if (running) throw new TypeError("a test cannot contain another one");
  if (typeof name !== "string" || name === "") throw new TypeError("test: the first argument is the test's name");
  if (typeof fn !== "function") throw new TypeError(`test ${JSON.stringify(name)}: the second argument is its function`);
  tests.push({ name, fn, skipped, stack: new Error().stack });
}

const test = Object.assign((name, fn) => note(name, fn, false), { skip: (name, fn = () => {}) => note(name, fn, true) });

function beforeEach(fn) {
  if (running) throw new TypeError("beforeEach: a test has begun already");
  if (typeof fn !== "function") throw new TypeError("beforeEach: expected a function");
  before.push(fn);
}

define(globalThis, "armature:test", {
  test, beforeEach, assert, site,
  // What the runner of the tests calls.
  runner: {
    tests(functions) { pluginIs = { functions: { ...functions }, manifest: null }; },
    list: () => tests.map(({ name, skipped, stack }) => ({ name, skipped, stack })),
    async run({ index, manifest }) {
      running = true;
      pluginIs.manifest = manifest;
      for (const fn of before) await fn();
      await tests[index].fn();
    },
  },
});
