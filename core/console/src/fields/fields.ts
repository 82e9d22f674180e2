// Which field type is shown and typed by which file.
import type { Component } from "svelte";
import type { Value } from "../api/site.ts";
import type { Field } from "../data/meta.ts";
import Attach, { descriptor as attach } from "./Attach.svelte";
import Autocomplete, { descriptor as autocomplete } from "./Autocomplete.svelte";
import Check, { descriptor as check } from "./Check.svelte";
import Color, { descriptor as color } from "./Color.svelte";
import Data, { descriptor as data } from "./Data.svelte";
import DateWidget, { descriptor as date } from "./Date.svelte";
import Link, { descriptor as link } from "./Link.svelte";
import MultiSelect, { descriptor as multiSelect } from "./MultiSelect.svelte";
import NumberWidget, { descriptor as number } from "./Number.svelte";
import Password, { descriptor as password } from "./Password.svelte";
import Rating, { descriptor as rating } from "./Rating.svelte";
import ReadOnly, { descriptor as readOnly } from "./ReadOnly.svelte";
import Select, { descriptor as select } from "./Select.svelte";
import Signature, { descriptor as signature } from "./Signature.svelte";
import Table, { descriptor as table } from "./Table.svelte";
import Text, { descriptor as text } from "./Text.svelte";
import type { FieldType, WidgetProps } from "./widget.ts";

const all: [Omit<FieldType, "widget">, Component<WidgetProps>][] = [
  [data, Data], [autocomplete, Autocomplete], [readOnly, ReadOnly], [text, Text], [number, NumberWidget], [check, Check], [select, Select], [date, DateWidget],
  [password, Password], [color, Color], [rating, Rating], [attach, Attach], [signature, Signature], [link, Link], [multiSelect, MultiSelect], [table, Table],
];

const byName = new Map<string, FieldType>();
for (const [descriptor, widget] of all) for (const name of descriptor.types) byName.set(name, { ...descriptor, widget });

/** The types that have a widget. */
export const typeNames = [...byName.keys()];

/** How a field is shown; one of a type that nobody knows, as a line of text. */
export const typeOf = (field: Field): FieldType => byName.get(field.fieldtype) ?? byName.get("Data")!;

export const show = (field: Field, value: Value): string => typeOf(field).show(value, field);
