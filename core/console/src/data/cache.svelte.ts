/** What is known of one thing that was asked for. */
export class Entry<T> {
  value = $state.raw<T | undefined>();
  error = $state.raw<unknown>();
  /** When it was last answered, in milliseconds; 0: never. */
  at = 0;
  promise: Promise<T> | undefined; // no state: a view that asks while it is drawn must not change what it is drawn of
}

/**
 * What was asked for is kept under a key: who asks again is shown what there is while it is
 * asked anew, and two who ask at a time ask once.
 */
export class Cache {
  readonly #entries = new Map<string, Entry<unknown>>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  entry<T>(key: string): Entry<T> {
    let found = this.#entries.get(key);
    if (!found) this.#entries.set(key, (found = new Entry<unknown>()));
    return found as Entry<T>;
  }

  /** Asks, unless an answer is younger than that many milliseconds or on its way. */
  get<T>(key: string, ask: () => Promise<T>, fresh = 0): Entry<T> {
    const entry = this.entry<T>(key);
    if (!entry.promise && (entry.at === 0 || this.#now() - entry.at >= fresh)) void this.#load(entry, ask).catch(() => undefined); // it is in entry.error
    return entry;
  }

  /** The answer itself, the same that get shows. */
  async want<T>(key: string, ask: () => Promise<T>, fresh = 0): Promise<T> {
    const entry = this.entry<T>(key);
    if (entry.promise) return entry.promise;
    if (entry.at > 0 && this.#now() - entry.at < fresh) return entry.value as T;
    return this.#load(entry, ask);
  }

  #load<T>(entry: Entry<T>, ask: () => Promise<T>): Promise<T> {
    const promise = ask();
    entry.promise = promise;
    const mine = () => entry.promise === promise; // and not what was put there meanwhile
    return promise.then(
      (value) => {
        if (mine()) this.#put(entry, value);
        return value;
      },
      (error: unknown) => {
        if (mine()) {
          entry.error = error;
          entry.promise = undefined;
        }
        throw error;
      },
    );
  }

  #put<T>(entry: Entry<T>, value: T | undefined): void {
    entry.value = value;
    entry.error = undefined;
    entry.at = this.#now();
    entry.promise = undefined;
  }

  put<T>(key: string, value: T): void {
    this.#put(this.entry<T>(key), value);
  }

  /** Shows a value at once, and what was there before if the change fails. */
  async change<T>(key: string, value: T, make: () => Promise<T>): Promise<T> {
    const entry = this.entry<T>(key);
    const before = entry.value;
    this.#put(entry, value);
    try {
      const made = await make();
      this.#put(entry, made);
      return made;
    } catch (error) {
      if (entry.value === value) this.#put(entry, before);
      throw error;
    }
  }

  /** Has everything under keys that begin so asked for anew, when somebody next does. */
  forget(begin: string): void {
    for (const [key, entry] of this.#entries) if (key.startsWith(begin)) entry.at = 0;
  }
}
