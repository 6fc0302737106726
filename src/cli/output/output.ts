// Prints results: one view of the data, several formats.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { jsonText, printable, yamlText } from "../escape.ts";
import { unknownValue } from "../failure.ts";
import { note, type Shell } from "../shell.ts";
import type { Section } from "./details.ts";
import { type Format, formats } from "./formats.ts";
import { type Arrangement, inOrder, sorted } from "./order.ts";
import { compileQuery, type Query, selectionOf } from "./query.ts";
import { tableColumns, withBoldTitles } from "./terminal.ts";
import { type Column, cellText, type View } from "./view.ts";

/** The output flags of a command. */
export interface OutputOptions extends Arrangement {
  readonly format: string;
  /** A JMESPath expression over the output of `-o json`. */
  readonly query?: string | undefined;
  /** Whether tables and CSV have titles. Defaults to true. */
  readonly headers?: boolean | undefined;
}

/** Prints results. */
export interface Output {
  readonly format: Format;
  /** Whether tables and CSV have titles. */
  readonly hasHeaders: boolean;
  /** Whether the command may print the most readable form: the user chose neither a format nor a query. */
  readonly isPlain: boolean;
  readonly hasQuery: boolean;
  /** Sorts and limits the rows of a list; by default in the order of the first columns. */
  arrange(view: View, rows: readonly JsonObject[], ordered?: "as it is"): readonly JsonObject[];
  /** Prints a list. As JSON, `{"items": […]}`. */
  list(view: View, rows: readonly JsonObject[]): Promise<void>;
  /** Prints one resource: as JSON and YAML the resource itself, as a table one line. */
  one(view: View, row: JsonObject): Promise<void>;
  /** Prints one resource with related ones: as a table its fields and then the sections; as JSON with `relations`. */
  details(view: View, row: JsonObject, sections: readonly Section[]): Promise<void>;
  /** Prints data without a view: as YAML if requested, else as JSON. */
  data(value: JsonValue): Promise<void>;
}

/** Opens the output for the flags of a command. */
export async function openOutput(shell: Shell, options: OutputOptions): Promise<Output> {
  const { sort, limit, headers: hasHeaders = true } = options;
  const format = formatOf(options.format);
  const query = options.query === undefined ? undefined : await compileQuery(options.query);
  const print = async (data: JsonObject, otherwise: () => Promise<string>) =>
    void shell.stdout.write(query ? await selected(shell, query, data, format, hasHeaders) : await otherwise());
  return {
    format,
    hasHeaders,
    isPlain: format === "table" && query === undefined,
    hasQuery: query !== undefined,
    arrange(view, rows, ordered) {
      const all = sorted(view, ordered === undefined ? inOrder(view, rows) : rows, sort);
      if (limit !== undefined && all.length > limit && !query && isForPeople(format))
        note(shell, `${all.length - limit} more ${view.noun} are not shown: --limit ${limit}.`);
      return all.slice(0, limit);
    },
    async list(view, rows) {
      if (rows.length === 0 && !query && isForPeople(format)) note(shell, `No ${view.noun}.`);
      const data = { items: [...rows] };
      await print(data, () => render(shell, format, view, rows, data, hasHeaders));
    },
    one: (view, row) => print(row, () => render(shell, format, view, [row], row, hasHeaders)),
    async details(view, row, sections) {
      const { describedRow, detailsText } = await import("./details.ts");
      const data = describedRow(row, sections);
      await print(data, async () =>
        ["table", "wide"].includes(format)
          ? await detailsText(view, row, sections)
          : await render(shell, format, view, [row], data, hasHeaders),
      );
    },
    async data(value) {
      const chosen = query ? query(value) : value;
      shell.stdout.write(
        format === "yaml" ? await yamlText(chosen) : format === "none" ? "" : `${jsonText(chosen, 2)}\n`,
      );
    },
  };
}

function formatOf(format: string): Format {
  const known = formats.find((candidate) => candidate === format);
  if (known !== undefined) return known;
  throw unknownValue(
    `there is no format ${JSON.stringify(format)}`,
    format,
    formats,
    `Formats are ${formats.join(", ")}.`,
  );
}

function isForPeople(format: Format): boolean {
  return format === "table" || format === "wide" || format === "tree";
}

async function render(
  shell: Shell,
  format: Format,
  view: View,
  rows: readonly JsonObject[],
  data: JsonObject,
  hasHeaders: boolean,
): Promise<string> {
  switch (format) {
    case "json":
      return `${jsonText(data, 2)}\n`;
    case "yaml":
      return await yamlText(data);
    case "csv":
      return (await import("./csv.ts")).csvText(view.columns, rows, hasHeaders);
    case "id":
      return rows.map((row) => `${printable(cellText(row, view.id ?? "uid"))}\n`).join("");
    case "name":
      return (await import("./name-lines.ts")).nameLines(view, rows);
    case "tree":
      return (await import("./tree.ts")).treeText(view, rows);
    case "none":
      return "";
    default:
      return await table(shell, format === "wide" ? view.columns : tableColumns(shell, view), rows, hasHeaders);
  }
}

async function table(
  shell: Shell,
  columns: readonly Column[],
  rows: readonly JsonObject[],
  hasHeaders: boolean,
): Promise<string> {
  const text = await (await import("./table.ts")).tableText(columns, rows, hasHeaders);
  return hasHeaders ? withBoldTitles(shell, text) : text;
}

/** Formats the data that a query selects. */
async function selected(
  shell: Shell,
  query: Query,
  data: JsonObject,
  format: Format,
  hasHeaders: boolean,
): Promise<string> {
  const value = query(data);
  if (format === "none") return "";
  if (format === "yaml") return await yamlText(value);
  const selection = format === "json" ? { kind: "json" as const } : selectionOf(value);
  if (selection.kind === "json") return `${jsonText(value, 2)}\n`;
  if (selection.kind === "lines") return selection.lines.map((line) => `${line}\n`).join("");
  const { columns, rows } = selection;
  if (format === "csv") return (await import("./csv.ts")).csvText(columns, rows, hasHeaders);
  return await table(shell, columns, rows, hasHeaders);
}
