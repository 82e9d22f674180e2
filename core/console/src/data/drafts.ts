import type { Row } from "../api/site.ts";

/** What somebody has typed and not saved, by form: going elsewhere in the page loses nothing. */
export interface Draft {
  base: Row;
  doc: Row;
}

const drafts = new Map<string, Draft>();

export const draftOf = (key: string) => drafts.get(key);
export const keepDraft = (key: string, draft: Draft) => void drafts.set(key, draft);
export const dropDraft = (key: string) => void drafts.delete(key);
export const anyDraft = () => drafts.size > 0;
