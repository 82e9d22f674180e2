import type { Row } from "../api/site.ts";

/**
 * Rows as a file that spreadsheets read (RFC 4180). What begins like a formula gets a quote
 * before it: a spreadsheet would calculate it.
 */
export function csvOf(columns: readonly string[], rows: readonly Row[]): string {
  const lines = [columns.map(cell), ...rows.map((r) => columns.map((c) => cell(r[c])))];
  return lines.map((l) => l.join(",") + "\r\n").join("");
}

function cell(value: unknown): string {
  let text = value === null || value === undefined ? "" : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = "'" + text;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
