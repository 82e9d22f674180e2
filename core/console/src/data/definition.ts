import type { Row, Value } from "../api/site.ts";
import { bare } from "./change.ts";

/** A field of a DocType that is being made. */
export interface Drawn extends Row {
  label?: string;
  fieldname?: string;
  fieldtype: string;
  options?: string;
}

const noName = /[^a-z0-9]+/g;

/** The name that a field gets of its label, as the server makes it. */
export const nameOf = (label: string): string => label.toLowerCase().replace(noName, "_").replace(/^[^a-z]+|_+$/g, "").slice(0, 60);

/** What saving will do to what there is. */
export type Step = { kind: "add" | "drop" | "change"; field: string } | { kind: "type"; field: string; from: string; to: string };

/** The plan of a change, by the names of fields. */
export function planOf(before: readonly Row[], after: readonly Row[]): Step[] {
  const was = new Map(before.map((f) => [String(f["fieldname"]), f]));
  const steps: Step[] = [];
  for (const f of after) {
    const name = String(f["fieldname"] || nameOf(String(f["label"] ?? "")));
    const old = was.get(name);
    was.delete(name);
    if (!old) steps.push({ kind: "add", field: name });
    else if (old["fieldtype"] !== f["fieldtype"]) steps.push({ kind: "type", field: name, from: String(old["fieldtype"]), to: String(f["fieldtype"]) });
    else if (properties.some((p) => text(old[p]) !== text(f[p]))) steps.push({ kind: "change", field: name });
  }
  for (const name of was.keys()) steps.push({ kind: "drop", field: name });
  return steps;
}

const properties = ["label", "options", "reqd", "in_list_view", "default", "description", "unique", "read_only", "hidden", "permlevel"];
const text = (v: Value) => (v === null || v === undefined || v === "" || v === 0 ? "" : String(v));

const always = ["read", "write", "create", "delete", "export", "share"];
const ofSubmittable = ["submit", "cancel", "amend"];

/** The rights that the matrix of a DocType shows. */
export const rightsShown = (submittable: boolean): string[] => (submittable ? [...always, ...ofSubmittable] : always);

/** A row of the matrix as it is stored: the server refuses submit where nothing is submitted. */
export function rightsOf(row: Row, submittable: boolean): Row {
  const values = bare(row);
  if (!submittable) for (const right of ofSubmittable) if (right in values) values[right] = 0;
  return values;
}
