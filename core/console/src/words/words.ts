import { de } from "./de.ts";
import { en, type Words } from "./en.ts";

const languages: { [tag: string]: Words } = { en, de };

function wanted(): string {
  const chosen = document.getElementById("console")?.dataset["language"]?.slice(0, 2);
  const all = chosen && chosen !== "en" ? [chosen, ...navigator.languages] : navigator.languages;
  for (const tag of all) if (tag.slice(0, 2) in languages) return tag.slice(0, 2);
  return "en";
}

export const language = wanted();
export const w: Words = languages[language] ?? en;

/** What went wrong, as a person reads it. */
export function said(error: unknown): string {
  return error instanceof Error && error.message ? error.message : w.failed;
}

const dates = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
const moments = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** Text of the server, "2026-01-31 13:45:00.000000", on the site's wall clock. */
function parsed(text: string): Date | undefined {
  const date = new Date(text.replace(" ", "T").slice(0, 19));
  return Number.isNaN(date.getTime()) ? undefined : date;
}

export const dayText = (text: string) => { const d = parsed(text.slice(0, 10) + " 00:00:00"); return d ? dates.format(d) : text; };
export const momentText = (text: string) => { const d = parsed(text); return d ? moments.format(d) : text; };
export const numberText = (n: number, digits?: number) =>
  n.toLocaleString(language, digits === undefined ? { maximumFractionDigits: 9 } : { minimumFractionDigits: digits, maximumFractionDigits: digits });
