// AbortController and AbortSignal. While a call waits for the host nothing of the
// script runs, so nothing can abort a request that is under way but a timeout,
// which the host keeps.

let newSignal, abortSignal, timeLeft; // what AbortController and fetch need of the class below

class AbortSignal {
  #listeners = [];
  #reason;
  #aborted = false;
  #deadline = Infinity; // as performance counts, in milliseconds
  onabort = null;
  static #making = false;
  constructor() {
    if (!AbortSignal.#making) throw new TypeError("Illegal constructor: use AbortController, AbortSignal.abort, timeout or any");
  }
  static abort(reason) {
    const signal = newSignal();
    abortSignal(signal, reason);
    return signal;
  }
  static timeout(milliseconds) {
    const ms = Number(milliseconds);
    if (!(ms >= 0) || ms === Infinity) throw new TypeError("AbortSignal.timeout: expected milliseconds");
    const signal = newSignal();
    signal.#deadline = performance.now() + ms;
    return signal;
  }
  static any(signals) {
    const all = Array.from(signals), signal = newSignal();
    for (const one of all) {
      if (one.aborted) {
        abortSignal(signal, one.reason);
        return signal;
      }
      signal.#deadline = Math.min(signal.#deadline, one.#deadline);
      one.#listeners.push(() => abortSignal(signal, one.reason));
    }
    return signal;
  }
  get aborted() {
    if (!this.#aborted && this.#deadline !== Infinity && performance.now() >= this.#deadline) {
      abortSignal(this, new DOMException("The time is up", "TimeoutError"));
    }
    return this.#aborted;
  }
  get reason() { return this.aborted ? this.#reason : undefined; }
  throwIfAborted() { if (this.aborted) throw this.#reason; }
  addEventListener(type, listener) {
    if (type === "abort" && listener && !this.#listeners.includes(listener)) this.#listeners.push(listener);
  }
  removeEventListener(type, listener) {
    if (type === "abort") this.#listeners = this.#listeners.filter((l) => l !== listener);
  }
  static {
    newSignal = () => {
      AbortSignal.#making = true;
      try {
        return new AbortSignal();
      } finally {
        AbortSignal.#making = false;
      }
    };
    abortSignal = (signal, reason = new DOMException("The operation was aborted", "AbortError")) => {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason;
      const event = { type: "abort", target: signal };
      for (const listener of [signal.onabort, ...signal.#listeners]) {
        if (typeof listener === "function") listener.call(signal, event);
        else if (listener) listener.handleEvent(event);
      }
    };
    timeLeft = (signal) => signal.#deadline - performance.now();
  }
}

class AbortController {
  #signal = newSignal();
  get signal() { return this.#signal; }
  abort(reason) { abortSignal(this.#signal, reason); }
}
