import { Site, type Filters, type Row, type Session } from "../api/site.ts";
import { Cache } from "./cache.svelte.ts";
import type { Listed, Meta } from "./meta.ts";

/** Whether somebody has to log in again, and what goes on when they have. */
class Ended {
  asked = $state(false);
  #done: (() => void) | undefined;

  ask = (): Promise<void> => {
    this.asked = true;
    return new Promise((done) => (this.#done = done));
  };

  finish(): void {
    this.asked = false;
    this.#done?.();
  }
}

export const ended = new Ended();
export const cache = new Cache();

function shownSession(): Session {
  const text = document.getElementById("console")?.dataset["session"];
  return JSON.parse(text ?? "{}") as Session;
}

export const session = shownSession();
export const site = new Site(session, ended.ask);

const minute = 60_000;
const metaKey = (doctype: string) => `meta/${doctype}`;
const documentKey = (doctype: string, name: string) => `doc/${doctype}/${name}`;

export const docTypes = () => cache.get<Listed[]>("doctypes", () => site.query("framework.client.get_doctypes"), minute);

const askMeta = (doctype: string) => () => site.query<Meta>("framework.client.get_doctype", { doctype });
export const meta = (doctype: string) => cache.get<Meta>(metaKey(doctype), askMeta(doctype), minute);
export const wantMeta = (doctype: string) => cache.want<Meta>(metaKey(doctype), askMeta(doctype), minute);

export const document_ = (doctype: string, name: string, fresh = 0) => cache.get<Row>(documentKey(doctype, name), () => site.read(doctype, name), fresh);

/** Brings what a view will show, before somebody goes there. */
export function prefetch(doctype: string, name?: string): void {
  meta(doctype);
  if (name !== undefined) document_(doctype, name, 5000);
}

export function keep(doctype: string, doc: Row): void {
  cache.put(documentKey(doctype, String(doc.name)), doc);
  cache.forget(`rights/${doctype}/`);
}

export async function save(doctype: string, name: string, changes: Row, shown: Row): Promise<Row> {
  return cache.change(documentKey(doctype, name), { ...shown, ...changes }, () => site.update(doctype, name, changes));
}

export async function reread(doctype: string, name: string): Promise<Row> {
  const doc = await site.read(doctype, name);
  keep(doctype, doc);
  return doc;
}

/** What the caller may do with one document. */
export const rightsOn = (doctype: string, name: string) =>
  cache.get<{ permissions: { [right: string]: number } }>(`rights/${doctype}/${name}`, () => site.query("framework.client.get_doc_permissions", { doctype, docname: name }), minute);

/** Has everything that tells of DocTypes asked for anew. */
export function definitionsChanged(): void {
  cache.forget("doctypes");
  cache.forget("meta/");
}

export interface Found {
  value: string | number;
  label?: string;
  description: string;
}

export const searchLink = (doctype: string, txt: string, filters: Filters = []) =>
  site.query<Found[]>("framework.desk.search.search_link", { doctype, txt, filters, page_length: 10 });
