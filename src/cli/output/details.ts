// Prints one resource in full: its fields, then related resources.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { printable } from "../escape.ts";
import { alignedText, tableText } from "./table.ts";
import { cellText, type View } from "./view.ts";

/** Related resources of one kind. */
export interface Section {
  /** The name in JSON. If the resource has a member of this name, the section replaces that member. */
  readonly key: string;
  readonly title: string;
  readonly view: View;
  /** Undefined if the caller may not list them. */
  readonly rows: readonly JsonObject[] | undefined;
  /** The total number, if there are more than the rows. */
  readonly total?: number | undefined;
}

const indent = "  ";
/** A longer list of words is printed on one line per word. */
const maxLineLength = 100;
/** A longer list is cut; `-o yaml` prints all of it. */
const maxItems = 20;
/** Words that labels write in capitals. */
const capitals = /\b(id|uid|url|oidc|scim|pkce|arn)\b/gi;

/** Returns the JSON of a described resource, with related resources as `relations`. */
export function describedRow(row: JsonObject, sections: readonly Section[]): JsonObject {
  const related = sections.filter(({ key, rows }) => rows !== undefined && !(key in row));
  if (related.length === 0) return row;
  const relations = Object.fromEntries(
    related.map(({ key, rows = [], total = rows.length }) => [key, { items: [...rows], total }]),
  );
  return { ...row, relations };
}

/** Returns aligned labels and values, then a table for each section. */
export async function detailsText(view: View, row: JsonObject, sections: readonly Section[]): Promise<string> {
  const shown = view.columns.filter(
    ({ inDetails = true, value }) => inDetails && (typeof value === "function" || !value.includes(".")),
  );
  const named = Object.fromEntries(shown.map(({ title, value }) => [title, cellText(row, value)]));
  const covered = [...shown.map(({ value, member }) => member ?? value), ...sections.map(({ key }) => key)];
  const others = Object.entries(row).filter(([name]) => !covered.includes(name));
  const fields = await fieldLines([...Object.entries(named), ...others], "");
  return fields + (await Promise.all(sections.map(sectionText))).join("");
}

/** Returns the fields that are not empty; nested ones come last, indented. */
async function fieldLines(fields: readonly (readonly [string, JsonValue])[], margin: string): Promise<string> {
  const present = fields.filter(([, value]) => !isEmpty(value));
  const simple = present.filter(([, value]) => simpleText(value) !== undefined);
  const lines = await alignedText(
    simple.map(([name, value]) => [`${margin}${labelOf(name)}:`, simpleText(value) ?? ""]),
  );
  const blocks = present.filter(([, value]) => simpleText(value) === undefined);
  return lines + (await Promise.all(blocks.map(([name, value]) => blockText(name, value, margin)))).join("");
}

async function blockText(name: string, value: JsonValue, margin: string): Promise<string> {
  const title = `${margin}${labelOf(name)}:\n`;
  const inner = margin + indent;
  if (isJsonObject(value)) return title + (await fieldLines(Object.entries(value) as [string, JsonValue][], inner));
  const items = Array.isArray(value) ? value : [value];
  const lines = items.slice(0, maxItems).map((item) => `- ${itemText(item)}`);
  const more = items.length > maxItems ? [`… and ${items.length - maxItems} more`] : [];
  return title + [...lines, ...more].map((line) => `${inner}${line}\n`).join("");
}

/** Returns a list item on one line. */
function itemText(item: JsonValue): string {
  if (!isJsonObject(item)) return printable(String(item));
  return Object.entries(item)
    .filter(([, value]) => !isEmpty(value as JsonValue))
    .map(
      ([name, value]) =>
        `${labelOf(name)}: ${printable(typeof value === "object" ? JSON.stringify(value) : String(value))}`,
    )
    .join("; ");
}

/** Returns a value that fits on one line; undefined if it does not. */
function simpleText(value: JsonValue): string | undefined {
  if (Array.isArray(value)) {
    const text = value.every((item) => item === null || typeof item !== "object") ? value.join(", ") : undefined;
    return text === undefined || text.length > maxLineLength ? undefined : printable(text);
  }
  return typeof value === "object" && value !== null ? undefined : printable(String(value));
}

function isEmpty(value: JsonValue): boolean {
  if (value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** "Create time" for createTime, "Keys until" for "keys until"; keys of a map are unchanged. */
function labelOf(name: string): string {
  if (!/^[a-z][a-zA-Z ]*$/.test(name)) return printable(name);
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return (words.charAt(0).toUpperCase() + words.slice(1)).replace(capitals, (word) => word.toUpperCase());
}

async function sectionText({ title: text, view, rows, total }: Section): Promise<string> {
  const title = printable(text);
  if (rows === undefined) return `${title}: you may not see them\n`;
  if (rows.length === 0) return `${title}: none\n`;
  const columns = view.columns.filter(({ wide }) => !wide);
  const lines = (await tableText(columns, rows)).trimEnd().split("\n");
  const more = total !== undefined && total > rows.length ? [`… and ${total - rows.length} more`] : [];
  return `${title}:\n${[...lines, ...more].map((line) => `${indent}${line}\n`).join("")}`;
}
