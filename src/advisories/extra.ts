// The texts of `extra`: JSON objects with data that only one format has.
import { isJsonObject, type JsonObject, numberText, parseExactly } from "../base/json.ts";
import { BadDocument, documentLimits } from "./document.ts";
import { parseJson } from "./json-text.ts";

/** Returns the object as the text of an `extra`: canonical JSON, without members that are undefined; empty when none is left. */
export function extraOf(members: JsonObject): string {
  const text = canonicalJson(members);
  return text === "{}" ? "" : text;
}

/** Whether canonical JSON may have a number that JavaScript would write otherwise. It has no blanks before numbers. */
const unusualNumber = /[[:,]-?\d*(?:\d[.eE]|\d{16})/;

/** Returns the members of an `extra`. Numbers are kept as they were written. */
export function parseExtra(extra: string): JsonObject {
  if (extra === "") return {};
  // JSON.parse alone is several times as fast.
  return (unusualNumber.test(extra) ? parseExactly(extra) : JSON.parse(extra)) as JsonObject;
}

/** Returns the reason why a text is not a valid `extra`, as a part of a sentence; empty if it is valid. */
export function extraProblem(text: string): string {
  if (text === "") return "";
  try {
    const value = parseJson(text, documentLimits.depth + 1);
    return isJsonObject(value) && numberText(value) === undefined ? "" : "must be a JSON object";
  } catch (error) {
    return error instanceof BadDocument ? error.message : "must be a JSON object";
  }
}

/** JSON whose members are sorted by name, without those that are undefined. */
export function canonicalJson(value: unknown): string {
  const number = numberText(value);
  if (number !== undefined) return number;
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  const names = Object.keys(value).sort();
  const members = names.filter((name) => value[name] !== undefined);
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(",")}}`;
}
