// `--query`: a JMESPath expression over the JSON of a result, and how what it selects is printed.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { printable } from "../escape.ts";
import { wrongUsage } from "../failure.ts";
import type { Column } from "./view.ts";

/** Selects from the JSON of a result. */
export type Query = (data: JsonValue) => JsonValue;

/** The query of an expression; wrong usage when it is none, or cannot be applied to what it meets. */
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

/** What a selection looks like to people. */
export type Selection =
  | { readonly kind: "lines"; readonly lines: readonly string[] }
  | { readonly kind: "table"; readonly columns: readonly Column[]; readonly rows: readonly JsonObject[] }
  | { readonly kind: "json" };

/** Lines for one text and for a list of them, a table for a list of flat objects; anything else has no other form than JSON. */
export function selectionOf(value: JsonValue): Selection {
  const items = Array.isArray(value) ? value : [value];
  if (items.every(isScalar)) return { kind: "lines", lines: items.map(lineOf) };
  const rows = items.filter((item) => isJsonObject(item) && Object.values(item).every(isScalar)) as JsonObject[];
  if (!Array.isArray(value) || rows.length < items.length) return { kind: "json" };
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  // A name may have a dot of its own.
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
