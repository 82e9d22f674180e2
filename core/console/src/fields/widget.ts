import type { Component } from "svelte";
import type { Row, Value } from "../api/site.ts";
import type { DocType, Field } from "../data/meta.ts";

/** What every widget is given. */
export interface WidgetProps {
  id: string;
  field: Field;
  value: Value;
  onchange: (value: Value) => void;
  readonly?: boolean;
  invalid?: boolean;
  describedby?: string | undefined;
  /** The document, for a field that looks at others. */
  doc: Row;
  /** The child tables of the DocType. */
  tables: { [name: string]: DocType };
  /** Where a file is attached to; undefined: the document is not saved. */
  attachedTo?: { doctype: string; name: string } | undefined;
}

/** How values of some field types are shown and typed. */
export interface FieldType {
  types: readonly string[];
  widget: Component<WidgetProps>;
  /** One line of text for a list. */
  show: (value: Value, field: Field) => string;
  /** The widget has its own label for each of its parts. */
  grouped?: boolean;
  /** It takes the whole width of a form. */
  wide?: boolean;
}

export const textOf = (value: Value): string => (value === null || value === undefined || Array.isArray(value) ? "" : String(value));
