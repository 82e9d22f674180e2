import type { Filters, ListOptions, Row } from "../api/site.ts";

export interface Source {
  list(doctype: string, options: ListOptions): Promise<Row[]>;
  count(doctype: string, filters?: Filters): Promise<number>;
}

export interface Wanted {
  doctype: string;
  fields: readonly string[];
  filters: Filters;
  sort: string;
  descending: boolean;
}

export const pageLength = 100;

/** Fields whose values are in every document and compare alike on every database. */
const seekable = new Set(["name", "creation", "modified"]);

/**
 * The rows of a list of any length, of which those are asked for that somebody looks at. A page
 * beside a known one is found by the values of the row it follows; any other by counting, from
 * whichever end is nearer.
 */
export class Rows {
  total = $state<number | undefined>();
  error = $state.raw<unknown>();
  /** Goes up when rows have come. */
  version = $state(0);
  readonly wanted: Wanted;
  readonly #source: Source;
  readonly #pages = new Map<number, Row[]>();
  readonly #asked = new Set<number>();

  constructor(source: Source, wanted: Wanted) {
    this.#source = source;
    this.wanted = wanted;
  }

  async open(): Promise<void> {
    const first = this.#load(0);
    try {
      this.total = await this.#source.count(this.wanted.doctype, this.wanted.filters);
      await first;
    } catch (error) {
      this.error = error;
    }
  }

  at(index: number): Row | undefined {
    void this.version;
    return this.#pages.get(Math.floor(index / pageLength))?.[index % pageLength];
  }

  /** All rows that are known, in order. */
  known(): Row[] {
    void this.version;
    return [...this.#pages.entries()].sort(([a], [b]) => a - b).flatMap(([, rows]) => rows);
  }

  /** Has the rows between two, and those, brought. */
  async show(first: number, last: number): Promise<void> {
    const wanted: Promise<void>[] = [];
    for (let page = Math.floor(first / pageLength); page <= Math.floor(last / pageLength); page++) wanted.push(this.#load(page));
    await Promise.all(wanted);
  }

  async #load(page: number): Promise<void> {
    if (this.#asked.has(page) || (this.total !== undefined && page * pageLength >= Math.max(this.total, 1))) return;
    this.#asked.add(page);
    try {
      const { options, reversed } = this.request(page);
      const rows = await this.#source.list(this.wanted.doctype, options);
      this.#pages.set(page, reversed ? rows.reverse() : rows);
      this.version++;
    } catch (error) {
      this.#asked.delete(page);
      this.error = error;
    }
  }

  /** How a page is asked for. */
  request(page: number): { options: ListOptions; reversed: boolean } {
    const { fields, filters } = this.wanted;
    const before = this.#pages.get(page - 1), after = this.#pages.get(page + 1);
    if (before?.length === pageLength && this.#seeks()) {
      return { options: { fields, filters: both(filters, this.#beyond(before[before.length - 1]!, false)), order: this.#order(false), limit: pageLength }, reversed: false };
    }
    if (after?.[0] && this.#seeks()) {
      return { options: { fields, filters: both(filters, this.#beyond(after[0], true)), order: this.#order(true), limit: pageLength }, reversed: true };
    }
    const start = page * pageLength;
    if (this.total !== undefined && start > this.total / 2) {
      const limit = Math.min(pageLength, this.total - start);
      return { options: { fields, filters, order: this.#order(true), start: this.total - start - limit, limit }, reversed: true };
    }
    return { options: { fields, filters, order: this.#order(false), start, limit: pageLength }, reversed: false };
  }

  #seeks(): boolean {
    return seekable.has(this.wanted.sort) && this.wanted.fields.includes(this.wanted.sort) && this.wanted.fields.includes("name");
  }

  #order(reversed: boolean): string {
    const way = this.wanted.descending !== reversed ? "desc" : "asc";
    return this.wanted.sort === "name" ? `name ${way}` : `${this.wanted.sort} ${way}, name ${way}`;
  }

  /** What the rows meet that come after one, or before it. */
  #beyond(row: Row, reversed: boolean): Filters {
    const op = this.wanted.descending !== reversed ? "<" : ">";
    const { sort } = this.wanted;
    if (sort === "name") return [["name", op, row.name]];
    return [[[sort, op, row[sort]], "or", [[sort, "=", row[sort]], "and", ["name", op, row.name]]]];
  }
}

function both(a: Filters, b: Filters): Filters {
  return [...a, ...b];
}
