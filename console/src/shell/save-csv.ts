// A whole filtered list as a file.
import type { Texts } from "../texts/texts.ts";
import type { Column } from "./columns.ts";
import { csvLine } from "./csv.ts";
import type { ListReader } from "./paged-list.ts";
import { download } from "./secret.tsx";
import { notify } from "./toast.tsx";

/** The most rows that a file has. */
const mostRows = 100_000;

/** Saves all rows of a list, with the columns that have a text, and reports how many there are. */
export async function saveCsv<Row>(
  t: Texts,
  name: string,
  columns: readonly Column<Row>[],
  reader: ListReader<Row>,
): Promise<void> {
  const written = columns.filter(({ text }) => text !== undefined);
  const lines = [csvLine(written.map(({ title }) => title))];
  let isWhole = true;
  const reading = new AbortController();
  for await (const rows of reader.rowsFrom(0, reading.signal)) {
    const room = mostRows - (lines.length - 1);
    isWhole = rows.length <= room;
    for (const row of rows.slice(0, room)) lines.push(csvLine(written.map(({ text }) => text?.(row) ?? "")));
    if (!isWhole) break;
    if (lines.length % 5000 < rows.length) notify(t("list.csvProgress", { count: lines.length - 1 }));
  }
  download(`${name}.csv`, lines.join(""), "text/csv");
  notify(t(isWhole ? "list.csvDone" : "list.csvCut", { count: lines.length - 1 }));
}
