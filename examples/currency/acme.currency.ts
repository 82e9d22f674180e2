// Converts amounts between currencies by the rates of another service, which is
// asked as seldom as will do and may be down now and then.
/// <reference path="../../sdk/js/armature.d.ts" />

export const manifest = {
  description: "Converts amounts by the rates of a service",
  // An administrator approves the host. The one here publishes the rates of the
  // European Central Bank and needs no key.
  allowed_hosts: ["api.frankfurter.dev"],
  grants: ["http_fetch", "kv"],
  methods: {
    convert: {
      // POST, though it changes no document: a GET leaves nothing behind, not in kv
      // either, and would ask the service every time.
      verbs: ["POST"],
      args: {
        type: "object",
        properties: {
          amount: { type: "number" },
          from: { type: "string", pattern: "^[A-Z]{3}$" },
          to: { type: "string", pattern: "^[A-Z]{3}$" },
          max_age: { type: "integer", minimum: 0 },
        },
        required: ["amount", "from", "to"],
      },
    },
  },
};

/** What is kept of an answer of the service. */
interface Rates {
  day: string; // of the rates
  rates: Record<string, number>;
  asked: number; // when, in seconds since 1970
}

const HOUR = 3600;
const DAY = 24 * HOUR;

/** Seconds for which the service is left alone after it failed. */
const PAUSE = 30;

const now = () => Math.floor(Date.now() / 1000);

interface Conversion {
  amount: number;
  from: string;
  to: string;
  /** Seconds that the rates may be old; an hour if nothing is said. */
  max_age?: number;
}

export async function convert({ amount, from, to, max_age = HOUR }: Conversion) {
  const { rates, stale } = await current(from, max_age);
  const rate = from === to ? 1 : rates.rates[to];
  if (!rate) throw unknown(to);
  return { amount: Math.round(amount * rate * 100) / 100, rate, day: rates.day, age: now() - rates.asked, stale };
}

/**
 * The rates of a currency, from the cache if they are young enough there. If the
 * service fails, old ones will do for a day, and the answer says so: an old rate is
 * of more use than none. Who cannot use it looks at `stale`.
 */
async function current(base: string, maxAge: number): Promise<{ rates: Rates; stale: boolean }> {
  const kept = kv.get<Rates>(`rates:${base}`);
  if (kept && now() - kept.asked < maxAge) return { rates: kept, stale: false };
  try {
    if (kv.get("failed")) throw new UnavailableError("The service of rates has failed a moment ago");
    const rates = await ask(base);
    kv.set(`rates:${base}`, rates, { ttl: DAY });
    return { rates, stale: false };
  } catch (e) {
    // Not every error is the service's: a host that is not approved stays an error.
    if (!(e instanceof UnavailableError || e instanceof TimeoutError)) throw e;
    if (!kv.get("failed")) kv.set("failed", true, { ttl: PAUSE });
    if (!kept) throw e;
    log.warn("old rates", { base, age: now() - kept.asked, because: e.message });
    return { rates: kept, stale: true };
  }
}

/** Asks the service. Whatever is wrong with it is an UnavailableError or a TimeoutError. */
async function ask(base: string): Promise<Rates> {
  const url = new URL(config("url", "https://api.frankfurter.dev/v1/latest"));
  url.searchParams.set("base", base);
  const answer = await fetch(url, { headers: { accept: "application/json" }, timeout: 3000 });
  if (answer.status === 404) throw unknown(base);
  if (!answer.ok) throw new UnavailableError(`The service of rates answers ${answer.status}`);
  const { date, rates } = await answer.json().catch(() => ({}));
  // What comes from outside is looked at before money is multiplied by it.
  if (typeof date !== "string" || typeof rates !== "object" || rates === null || !Object.values(rates).every((r) => typeof r === "number" && r > 0)) {
    throw new UnavailableError("The service of rates answers something else than rates");
  }
  return { day: date, rates, asked: now() };
}

const unknown = (currency: string) => new ValidationError(`There is no rate of ${currency}`, { type: "UnknownCurrencyError" });
