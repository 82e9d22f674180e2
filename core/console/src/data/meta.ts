import type { Row } from "../api/site.ts";

/** A field of a DocType, as it is written down. */
export interface Field {
  fieldname: string;
  label?: string;
  fieldtype: string;
  options?: string;
  default?: string;
  description?: string;
  placeholder?: string;
  reqd?: number;
  read_only?: number;
  hidden?: number;
  permlevel?: number;
  precision?: string;
  length?: number;
  non_negative?: number;
  set_only_once?: number;
  allow_on_submit?: number;
  in_list_view?: number;
  in_standard_filter?: number;
  is_virtual?: number;
  fetch_from?: string;
  collapsible?: number;
}

export interface DocType {
  name: string;
  modified: string;
  module?: string;
  description?: string;
  autoname?: string;
  title_field?: string;
  sort_field?: string;
  sort_order?: string;
  issingle?: number;
  istable?: number;
  is_submittable?: number;
  track_changes?: number;
  allow_rename?: number;
  fields: Field[];
}

/** What framework.client.get_doctype answers. */
export interface Meta {
  doctype: DocType;
  tables: { [name: string]: DocType };
  rights: string[];
  read_levels: number[];
  write_levels: number[];
}

/** A DocType in the list of all. */
export interface Listed {
  name: string;
  module: string;
  title_field: string;
  rights: string[];
  issingle: 0 | 1;
  is_submittable: 0 | 1;
  is_tree: 0 | 1;
  custom: 0 | 1;
}

const layout = new Set(["Section Break", "Column Break", "Tab Break", "Heading", "HTML", "Image", "Button", "Fold"]);

export const holdsValue = (f: Field) => !layout.has(f.fieldtype) && !f.is_virtual;
export const isTable = (f: Field) => f.fieldtype === "Table" || f.fieldtype === "Table MultiSelect";
export const labelOf = (f: Field) => f.label || f.fieldname;

/** Fields that every document has, and a list may show. */
export const standard: Field[] = [
  { fieldname: "name", label: "ID", fieldtype: "Data" },
  { fieldname: "owner", label: "Owner", fieldtype: "Link", options: "User" },
  { fieldname: "creation", label: "Created", fieldtype: "Datetime" },
  { fieldname: "modified", label: "Changed", fieldtype: "Datetime" },
  { fieldname: "modified_by", label: "Changed by", fieldtype: "Link", options: "User" },
  { fieldname: "docstatus", label: "Stage", fieldtype: "Int" },
];

/** The fields that a list may show, filter and sort by. */
export function listable(dt: DocType): Field[] {
  const own = dt.fields.filter((f) => holdsValue(f) && !isTable(f) && f.fieldtype !== "Password");
  return [...own, ...standard];
}

/** The columns of a list that nobody has chosen. */
export function usualColumns(dt: DocType): string[] {
  const own = dt.fields.filter((f) => holdsValue(f) && !isTable(f) && !f.hidden && f.fieldtype !== "Password");
  const marked = own.filter((f) => f.in_list_view);
  const chosen = (marked.length > 0 ? marked : own.filter((f) => f.fieldname !== dt.title_field && f.fieldtype !== "Code" && f.fieldtype !== "JSON").slice(0, 3)).map((f) => f.fieldname);
  const first = dt.title_field && own.some((f) => f.fieldname === dt.title_field) ? dt.title_field : undefined;
  return [...new Set([...(first ? [first] : []), ...chosen, "modified"])];
}

/** What a document is called where people read it. */
export function titleOf(dt: DocType | undefined, doc: Row): string {
  const title = dt?.title_field ? doc[dt.title_field] : undefined;
  return typeof title === "string" && title !== "" ? title : String(doc.name ?? "");
}

/** The values of a document that nobody has filled in yet. */
export function startValues(dt: DocType, user: string, today: string, now: string): Row {
  const doc: Row = {};
  for (const f of dt.fields) {
    if (!holdsValue(f)) continue;
    if (isTable(f)) doc[f.fieldname] = [];
    else if (f.default) doc[f.fieldname] = meant(f, user, today, now);
    else if (f.fieldtype === "Select" && f.options) doc[f.fieldname] = f.options.split("\n")[0] ?? "";
  }
  return doc;
}

function meant(f: Field, user: string, today: string, now: string): string | number {
  const text = f.default ?? "";
  if (text === "__user") return user;
  if (/^today$/i.test(text) && f.fieldtype === "Date") return today;
  if (/^now$/i.test(text) && f.fieldtype === "Datetime") return now;
  if (/^now$/i.test(text) && f.fieldtype === "Time") return now.slice(11);
  return numeric.has(f.fieldtype) && !Number.isNaN(Number(text)) ? Number(text) : text;
}

export const numeric = new Set(["Int", "Check", "Float", "Currency", "Percent", "Duration", "Rating"]);
