import { describe, expect, it } from "vitest";
import type { ListOptions, Row } from "../api/site.ts";
import { Cache } from "./cache.svelte.ts";
import { changesOf, differences, merged, same } from "./change.ts";
import { csvOf } from "./csv.ts";
import { nameOf, planOf, rightsOf, rightsShown } from "./definition.ts";
import { containing, operatorsOf, readFilters, typedOf, writeFilters } from "./filters.ts";
import { startValues, type Field } from "./meta.ts";
import { pageLength, Rows } from "./rows.svelte.ts";

const field = (fieldname: string, fieldtype = "Data", more: Partial<Field> = {}): Field => ({ fieldname, fieldtype, ...more });

describe("the cache", () => {
  it("asks once for two who ask at a time, and shows what it knows meanwhile", async () => {
    const cache = new Cache(() => 0);
    let asked = 0;
    const ask = async () => ++asked;
    const both = [cache.want("a", ask), cache.want("a", ask)];
    expect(await Promise.all(both)).toEqual([1, 1]);
    expect(cache.get("a", ask).value).toBe(1);
    expect(await cache.want("a", ask)).toBe(2);
  });
  it("takes a change back that fails", async () => {
    const cache = new Cache();
    cache.put("a", "before");
    const change = cache.change("a", "after", () => Promise.reject(new Error("no")));
    expect(cache.entry("a").value).toBe("after");
    await expect(change).rejects.toThrow("no");
    expect(cache.entry("a").value).toBe("before");
  });
  it("keeps what was put there while an older question was on its way", async () => {
    const cache = new Cache();
    let answer = (_: string) => {};
    const asked = cache.want("a", () => new Promise<string>((done) => (answer = done)));
    cache.put("a", "newer");
    answer("older");
    await asked;
    expect(cache.entry("a").value).toBe("newer");
  });
});

describe("changes of a form", () => {
  const fields = [field("title"), field("n", "Int"), field("rows", "Table"), field("b", "Section Break")];
  it("are those fields that differ to a reader", () => {
    expect(changesOf(fields, { title: null, n: 0, rows: [] }, { title: "", n: 0, rows: [] })).toEqual({});
    expect(changesOf(fields, { title: "a", rows: [{ name: "r", idx: 1, x: 1 }] }, { title: undefined, rows: [{ name: "r", idx: 1, x: 2 }] })).toEqual({ title: null, rows: [{ name: "r", x: 2 }] });
    expect(same([{ name: "r", idx: 1 }], [{ name: "r", idx: 2 }])).toBe(true);
  });
  it("of two people are put together", () => {
    const base = { title: "a", n: 1, rows: [] }, mine = { title: "b", n: 1, rows: [] }, theirs = { title: "c", n: 2, rows: [] };
    const found = differences(fields, base, mine, theirs);
    expect(found.map((d) => [d.field.fieldname, d.disputed])).toEqual([["title", true], ["n", false]]);
    expect(merged(mine, theirs, found, new Set(["title"]))).toEqual({ title: "b", n: 2, rows: [] });
    expect(merged(mine, theirs, found, new Set())).toEqual({ title: "c", n: 2, rows: [] });
  });
});

describe("filters in the address", () => {
  it("come back as they went, and nonsense as none", () => {
    expect(readFilters(writeFilters([["a", "in", ["x", "y"]]]))).toEqual([["a", "in", ["x", "y"]]]);
    for (const text of [null, "", "[", "{}", '[["a","="]]', '["a","=",1]']) expect(readFilters(text)).toEqual([]);
  });
  it("like finds what is typed, letter by letter", () => {
    expect(containing("a_b")).toBe("%a\\_b%");
    expect(typedOf(containing("a_b"))).toBe("a_b");
  });
  it("have the operators of the field", () => {
    expect(operatorsOf(field("f", "Float"))).not.toContain("like");
    expect(operatorsOf(field("l", "Link", { options: "X" }))).toContain("ancestors of");
    expect(operatorsOf(field("d", "Date"))).toContain("timespan");
  });
});

describe("rows", () => {
  const all: Row[] = Array.from({ length: 1000 }, (_, i) => ({ name: `n${String(i).padStart(4, "0")}`, modified: `2026-01-01 00:00:${String(i % 7).padStart(2, "0")}` }))
    .sort((a, b) => (a["modified"] === b["modified"] ? (a.name! < b.name! ? 1 : -1) : String(a["modified"]) < String(b["modified"]) ? 1 : -1));
  const asked: ListOptions[] = [];
  const source = {
    count: async () => all.length,
    list: async (_: string, o: ListOptions) => {
      asked.push(o);
      let rows = o.order!.includes("asc") ? [...all].reverse() : all;
      const beyond = o.filters?.[0] as [[string, string, string], string, [[string, string, string], string, [string, string, string]]] | undefined;
      if (beyond) {
        const [, op, at] = beyond[0], name = beyond[2][2][2];
        rows = rows.filter((r) => (op === "<" ? String(r["modified"]) < at || (r["modified"] === at && r.name! < name) : String(r["modified"]) > at || (r["modified"] === at && r.name! > name)));
      }
      return rows.slice(o.start ?? 0, (o.start ?? 0) + o.limit!);
    },
  };
  it("are all found once, from any side", async () => {
    const rows = new Rows(source, { doctype: "X", fields: ["name", "modified"], filters: [], sort: "modified", descending: true });
    await rows.open();
    await rows.show(900, 950);
    expect(asked[asked.length - 1]).toMatchObject({ start: 0, limit: pageLength, order: "modified asc, name asc" });
    await rows.show(800, 810); // before a known page
    await rows.show(100, 110); // after one
    expect(asked[asked.length - 1]!.start).toBeUndefined();
    await rows.show(0, 999);
    expect(rows.known().map((r) => r.name)).toEqual(all.map((r) => r.name));
  });
});

it("a file for spreadsheets calculates nothing", () => {
  expect(csvOf(["a", "b"], [{ a: "=1+1", b: 'x"y' }, { a: -2, b: null }])).toBe('a,b\r\n\'=1+1,"x""y"\r\n-2,\r\n');
});

it("the values of a new document are those of its DocType", () => {
  const dt = { name: "X", modified: "", fields: [field("d", "Date", { default: "Today" }), field("s", "Select", { options: "A\nB" }), field("u", "Data", { default: "__user" }), field("n", "Int", { default: "3" }), field("t", "Table")] };
  expect(startValues(dt, "me", "2026-01-31", "2026-01-31 10:00:00")).toEqual({ d: "2026-01-31", s: "A", u: "me", n: 3, t: [] });
});

it("a DocType's plan names what is added, changed and left out", () => {
  expect(nameOf("2nd Größe (cm)")).toBe("nd_gr_e_cm");
  expect(planOf([{ fieldname: "a", fieldtype: "Data" }, { fieldname: "b", fieldtype: "Data" }], [{ fieldname: "a", fieldtype: "Int" }, { label: "New One", fieldtype: "Data" }])).toEqual([
    { kind: "type", field: "a", from: "Data", to: "Int" }, { kind: "add", field: "new_one" }, { kind: "drop", field: "b" },
  ]);
});

it("the rights of what is not submitted", () => {
  expect(rightsShown(false)).not.toContain("submit");
  expect(rightsOf({ role: "All", read: 1, submit: 1, cancel: 1 }, false)).toEqual({ role: "All", read: 1, submit: 0, cancel: 0 });
  expect(rightsOf({ role: "All", read: 1, submit: 1 }, true)).toEqual({ role: "All", read: 1, submit: 1 });
});
