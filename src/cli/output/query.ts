// `--query`: a JMESPath expression over the JSON of a result.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { printable } from "../escape.ts";
import { wrongUsage } from "../failure.ts";
import type { Column } from "./view.ts";

/** Selects from the JSON of a result. */
export type Query = (data: JsonValue) => JsonValue;

/** Compiles an expression. Wrong usage if it is invalid, or cannot be applied to the data. */
export async function compileQuery(expression: string): Promise<Query> {
  const { compile, TreeInterpreter } = await import("@jmespath-community/jmespath");
  const refused = (error: unknown) =>
    wrongUsage(
      `--query: ${error instanceof Error ? error.message : error}`,
      "It is a JMESPath expression, such as 'items[].name': https://jmespath.site/main/",
    );
  try {
    const compiled = compile(expression);
    return (data) => {
      try {
        return (TreeInterpreter.search(compiled, data) ?? null) as JsonValue;
      } catch (error) {
        throw refused(error);
      }
    };
  } catch (error) {
    throw refused(error);
  }
}

/** The printed form of a selection. */
export type Selection =
  | { readonly kind: "lines"; readonly lines: readonly string[] }
  | { readonly kind: "table"; readonly columns: readonly Column[]; readonly rows: readonly JsonObject[] }
  | { readonly kind: "json" };

/** Lines for a text or a list of texts, a table for a list of flat objects, JSON for everything else. */
export function selectionOf(value: JsonValue): Selection {
  const items = Array.isArray(value) ? value : [value];
  if (items.every(isScalar)) return { kind: "lines", lines: items.map(lineOf) };
  const rows = items.filter((item) => isJsonObject(item) && Object.values(item).every(isScalar)) as JsonObject[];
  if (!Array.isArray(value) || rows.length < items.length) return { kind: "json" };
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  // A member name may contain a dot.
  return {
    kind: "table",
    rows,
    columns: names.map((title) => ({ title, value: (row) => lineOf(row[title] ?? null) })),
  };
}

function isScalar(value: JsonValue): boolean {
  return value === null || typeof value !== "object";
}

function lineOf(value: JsonValue): string {
  return value === null ? "" : printable(String(value));
}
