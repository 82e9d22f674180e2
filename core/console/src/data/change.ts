import type { Row, Value } from "../api/site.ts";
import { holdsValue, isTable, type Field } from "./meta.ts";

const kept = new Set(["idx", "owner", "creation", "modified", "modified_by", "docstatus", "parent", "parentfield", "parenttype", "doctype"]);

/** A row without what the server writes itself. */
export function bare(row: Row): Row {
  const values: Row = {};
  for (const [name, value] of Object.entries(row)) if (!kept.has(name) && !name.startsWith("__")) values[name] = value;
  return values;
}

/** Whether two values are the same to who reads them: no text is as good as none. */
export function same(a: Value, b: Value): boolean {
  if (Array.isArray(a) || Array.isArray(b)) return tableText(a) === tableText(b);
  return plain(a) === plain(b);
}

const plain = (v: Value) => (v === null || v === undefined ? "" : typeof v === "boolean" ? String(Number(v)) : String(v));

function tableText(v: Value): string {
  if (!Array.isArray(v)) return "[]";
  return JSON.stringify(v.map((row) => Object.entries(bare(row)).filter(([, x]) => plain(x as Value) !== "").map(([n, x]) => [n, plain(x as Value)]).sort()));
}

/** The fields of a form that differ from what was read, as they are sent. */
export function changesOf(fields: readonly Field[], base: Row, now: Row): Row {
  const changes: Row = {};
  for (const f of fields) {
    if (!holdsValue(f) || f.fieldtype === "Read Only" || same(base[f.fieldname], now[f.fieldname])) continue;
    const value = now[f.fieldname];
    changes[f.fieldname] = isTable(f) && Array.isArray(value) ? value.map(bare) : (value ?? null);
  }
  return changes;
}

/** A field that two have changed, or the other one alone. */
export interface Difference {
  field: Field;
  before: Value;
  mine: Value;
  theirs: Value;
  /** Both have changed it, to different values. */
  disputed: boolean;
}

/** What somebody else has changed since a document was read. */
export function differences(fields: readonly Field[], base: Row, mine: Row, theirs: Row): Difference[] {
  return fields
    .filter((f) => holdsValue(f) && !same(base[f.fieldname], theirs[f.fieldname]))
    .map((field) => {
      const n = field.fieldname;
      return { field, before: base[n], mine: mine[n], theirs: theirs[n], disputed: !same(base[n], mine[n]) && !same(mine[n], theirs[n]) };
    });
}

/** A document with the other's changes, but those for which one's own is chosen. */
export function merged(mine: Row, theirs: Row, found: readonly Difference[], keepMine: ReadonlySet<string>): Row {
  const doc: Row = { ...mine };
  for (const d of found) if (!d.disputed || !keepMine.has(d.field.fieldname)) doc[d.field.fieldname] = theirs[d.field.fieldname];
  return doc;
}
