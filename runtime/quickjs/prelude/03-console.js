// console writes to the server's log. Strings and numbers are joined as they
// are, anything else is shown as JSON where it can be.

function shown(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return value.stack ? `${value.name}: ${value.message}\n${value.stack}` : String(value);
  if (typeof value === "object" && value !== null) {
    try {
      return JSON.stringify(value) ?? String(value);
    } catch {
      return Object.prototype.toString.call(value);
    }
  }
  return typeof value === "bigint" ? `${value}n` : String(value);
}

function line(level) {
  return (...values) => host.log(level, values.map(shown).join(" "));
}

const timers_ = new Map();

const console = {
  debug: line("0"), trace: line("0"), log: line("1"), info: line("1"), warn: line("2"), error: line("3"),
  dir: (value) => console.log(value),
  table: (value) => console.log(value),
  assert(ok, ...values) { if (!ok) console.error("Assertion failed:", ...values); },
  time(label = "default") { timers_.set(label, performance.now()); },
  timeEnd(label = "default") {
    if (timers_.has(label)) console.log(`${label}: ${(performance.now() - timers_.get(label)).toFixed(3)} ms`);
    timers_.delete(label);
  },
  group() {}, groupEnd() {}, count() {},
};

// log takes a message and attributes, which the log keeps apart.
function structured(level) {
  return (message, attributes) => host.log(level, JSON.stringify({ ...attributes, message: String(message) }));
}

const log = Object.freeze({
  debug: structured("0"), info: structured("1"), warn: structured("2"), error: structured("3"),
});
