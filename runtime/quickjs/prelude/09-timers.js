// Timers. A call is over when its method is, and holds a transaction until then,
// so there is nothing to wait for: only a delay of 0 is accepted, which puts
// something behind all that promises have to do.

const timers = [];
let lastTimer = 0;

function setTimeout(fn, delay = 0, ...args) {
  if (typeof fn !== "function") throw new TypeError("setTimeout: expected a function");
  if (Number(delay) > 0) throw new RangeError("setTimeout: a call cannot wait; the only delay is 0");
  timers.push({ id: ++lastTimer, fn, args });
  return lastTimer;
}

function clearTimeout(id) {
  const i = timers.findIndex((t) => t.id === id);
  if (i >= 0) timers.splice(i, 1);
}

// performance counts from when a call first asks: the engine's own would count
// from when the script was loaded, and so differ in every process.

let began, latest = 0;

function sinceBegan() {
  const now = Number(host.now());
  began ??= now;
  return latest = Math.max(latest, (now - began) / 1000);
}

const performance = Object.freeze({
  now: sinceBegan,
  get timeOrigin() {
    sinceBegan();
    return began / 1000;
  },
});
