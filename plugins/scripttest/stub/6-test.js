// Tests are noted while their file is loaded. Each is then run in a clone of what
// was loaded, so nothing of one is seen by another.

const tests = [];
let running = false;

function note(name, fn, skipped) {
  if (running) throw new TypeError("a test cannot contain another one");
  if (typeof name !== "string" || name === "") throw new TypeError("test: the first argument is the test's name");
  if (typeof fn !== "function") throw new TypeError(`test ${JSON.stringify(name)}: the second argument is its function`);
  tests.push({ name, fn, skipped, stack: new Error().stack });
}

const test = Object.assign((name, fn) => note(name, fn, false), { skip: (name, fn = () => {}) => note(name, fn, true) });

define(globalThis, "armature:test", {
  test, assert, host: theHost,
  // What the runner of the tests calls.
  runner: {
    tests(functions) { pluginIs = { functions: { ...functions }, manifest: null, imports: [] }; },
    list: () => tests.map(({ name, skipped, stack }) => ({ name, skipped, stack })),
    async run({ index, manifest, imports }) {
      running = true;
      Object.assign(pluginIs, { manifest, imports });
      await tests[index].fn();
    },
  },
});
