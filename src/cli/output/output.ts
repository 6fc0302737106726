// How results are printed: one view of the data, many formats.
import type { JsonObject } from "@bufbuild/protobuf";
import { wrongUsage } from "../failure.ts";
import { note, type Shell } from "../shell.ts";
import { cellText, type View } from "./view.ts";

/** What `-o` takes. */
export const formats = ["table", "wide", "json", "yaml", "csv", "id", "tree", "none"] as const;
/** One of the formats. */
export type Format = (typeof formats)[number];

/** Prints results. */
export interface Output {
  readonly format: Format;
  /** Any number of things. As JSON, `{"items": […]}`. */
  list(view: View, rows: readonly JsonObject[]): Promise<void>;
  /** One thing: as JSON and YAML the thing itself, as a table one line. */
  one(view: View, row: JsonObject): Promise<void>;
}

/** The output in a format. */
export function openOutput(shell: Shell, format: string): Output {
  const known = formats.find((candidate) => candidate === format);
  if (known === undefined)
    throw wrongUsage(`there is no format ${JSON.stringify(format)}`, `Formats are ${formats.join(", ")}.`);
  return {
    format: known,
    async list(view, rows) {
      if (rows.length === 0 && ["table", "wide", "tree"].includes(known)) note(shell, `No ${view.noun}.`);
      shell.stdout.write(await render(known, view, rows, { items: [...rows] }));
    },
    async one(view, row) {
      shell.stdout.write(await render(known, view, [row], row));
    },
  };
}

async function render(format: Format, view: View, rows: readonly JsonObject[], data: JsonObject): Promise<string> {
  switch (format) {
    case "json":
      return `${JSON.stringify(data, null, 2)}\n`;
    case "yaml":
      return (await import("yaml")).stringify(data);
    case "csv":
      return (await import("./csv.ts")).csvText(view.columns, rows);
    case "id":
      return rows.map((row) => `${cellText(row, view.id ?? "uid")}\n`).join("");
    case "tree":
      return (await import("./tree.ts")).treeText(view, rows);
    case "none":
      return "";
    default:
      return (await import("./table.ts")).tableText(
        view.columns.filter(({ wide }) => format === "wide" || !wide),
        rows,
      );
  }
}
