import type { Filter } from "../api/site.ts";
import type { Field } from "./meta.ts";

const compare = ["=", "!=", "<", ">", "<=", ">="];
const text = ["like", "not like"];
const lists = ["in", "not in"];
const tree = ["descendants of", "descendants of (inclusive)", "not descendants of", "ancestors of", "not ancestors of"];
const times = ["timespan", "previous", "next"];
const counted = new Set(["Float", "Currency", "Percent", "Duration", "Rating"]);

/** The operators that a field takes, as the field types of the server have them. */
export function operatorsOf(field: Field): string[] {
  const all = [...compare, ...lists, "is", "between"];
  if (!counted.has(field.fieldtype)) all.push(...text);
  if (field.fieldtype === "Link") all.push(...tree);
  if (field.fieldtype === "Date" || field.fieldtype === "Datetime") all.push(...times);
  return all;
}

/** The spans that timespan, previous and next take. */
export const spans: { [operator: string]: string[] } = {
  timespan: ["today", "yesterday", "tomorrow", "this week", "this month", "this quarter", "this year", "last week", "last month", "last quarter", "last year", "next week", "next month", "next quarter", "next year"],
  previous: ["1 week", "1 month", "3 months", "6 months", "1 year"],
  next: ["1 week", "1 month", "3 months", "6 months", "1 year"],
};

/** How many values an operator is given, and of which kind. */
export function shapeOf(operator: string): "one" | "many" | "two" | "set" | "span" | "pattern" {
  if (operator === "in" || operator === "not in") return "many";
  if (operator === "between") return "two";
  if (operator === "is") return "set";
  if (operator in spans) return "span";
  return operator.endsWith("like") ? "pattern" : "one";
}

/** The filters of an address; what is none is left out. */
export function readFilters(given: string | null): Filter[] {
  if (!given) return [];
  let list: unknown;
  try {
    list = JSON.parse(given);
  } catch {
    return [];
  }
  if (!Array.isArray(list)) return [];
  return list.filter((f): f is Filter => Array.isArray(f) && f.length === 3 && typeof f[0] === "string" && typeof f[1] === "string");
}

export function writeFilters(filters: readonly Filter[]): string | null {
  return filters.length === 0 ? null : JSON.stringify(filters);
}

/** A pattern for like of what somebody types, who knows no patterns. */
export const containing = (typed: string) => (/[%]/.test(typed) ? typed : `%${typed.replace(/[\\_]/g, "\\$&")}%`);
export const typedOf = (pattern: string) => (/^%[^%]*%$/.test(pattern) ? pattern.slice(1, -1).replace(/\\([\\_])/g, "$1") : pattern);
