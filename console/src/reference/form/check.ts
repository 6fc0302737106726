// Checks a request by the schema of its document before it is sent.
import { camel, type OpenApi, resolve, type Schema } from "../documents.ts";

/** A rule that a value breaks. */
export interface Violation {
  /** The path of the value: `requests[0].roleBinding`. Empty for the value as a whole. */
  readonly path: string;
  readonly rule: Rule;
  /** The value of the rule: a number, a pattern, a type. */
  readonly wanted: string | number;
}

/** The rules, by their texts. */
export type Rule =
  | "required"
  | "type"
  | "choice"
  | "time"
  | "base64"
  | "unknown"
  | "oneof"
  | "pattern"
  | "minLength"
  | "maxLength"
  | "minimum"
  | "maximum"
  | "minItems"
  | "maxItems";

type Report = (rule: Rule, wanted?: string | number) => void;

/** Returns the path of a member or an item. */
export function pathOf(path: string, part: string | number): string {
  if (typeof part === "number") return `${path}[${part}]`;
  return path === "" ? part : `${path}.${part}`;
}

/** Returns what the server would reject of a value, as far as its schema says it. */
export function check(document: OpenApi, given: Schema, value: unknown, path = ""): readonly Violation[] {
  // Null is the same as an absent field.
  if (value === null || value === undefined) return [];
  const { schema } = resolve(document, given);
  if (schema.anyOf) return check(document, numberSchema, value, path);
  if (schema.items) return checkList(document, schema, value, path);
  if (schema.type === "object") return checkObject(document, schema, value, path);
  const found: Violation[] = [];
  checkScalar(schema, value, (rule, wanted = "") => found.push({ path, rule, wanted }));
  return found;
}

/** A number with a fraction: its schema also has words for what JSON cannot write. */
const numberSchema: Schema = { type: "number" };

function checkList(document: OpenApi, schema: Schema, value: unknown, path: string): readonly Violation[] {
  if (!Array.isArray(value)) return [{ path, rule: "type", wanted: "list" }];
  return [
    ...sizeViolations(path, value.length, schema.minItems, schema.maxItems),
    ...value.flatMap((item, index) => check(document, schema.items!, item, pathOf(path, index))),
  ];
}

function checkObject(document: OpenApi, schema: Schema, value: unknown, path: string): readonly Violation[] {
  if (typeof value !== "object" || Array.isArray(value)) return [{ path, rule: "type", wanted: "object" }];
  const { properties = {}, additionalProperties, required = [], propertyNames } = schema;
  const size = Object.keys(value as object).length;
  const missing = required
    .filter((name) => isMissing((value as Record<string, unknown>)[name]))
    .map((name): Violation => ({ path: pathOf(path, name), rule: "required", wanted: "" }));
  const members = Object.entries(value as object).flatMap(([name, member]): readonly Violation[] => {
    const own = pathOf(path, name);
    if (missing.some((one) => one.path === own)) return [];
    const property = properties[name] ?? properties[camel(name)];
    if (property) return check(document, property, member, own);
    if (additionalProperties === false) return [{ path: own, rule: "unknown", wanted: "" }];
    if (typeof additionalProperties !== "object") return [];
    const isKey = propertyNames?.pattern === undefined || new RegExp(propertyNames.pattern, "u").test(name);
    const keys: readonly Violation[] = isKey ? [] : [{ path: own, rule: "type", wanted: "integer" }];
    return [...keys, ...check(document, additionalProperties, member, own)];
  });
  return [...sizeViolations(path, size, schema.minProperties, schema.maxProperties), ...missing, ...members];
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function sizeViolations(path: string, size: number, least = 0, most = Number.POSITIVE_INFINITY): readonly Violation[] {
  if (size < least) return [{ path, rule: "minItems", wanted: least }];
  return size > most ? [{ path, rule: "maxItems", wanted: most }] : [];
}

function checkScalar(schema: Schema, value: unknown, report: Report): void {
  if (schema.enum) {
    if (typeof value === "string" && !schema.enum.includes(value)) report("choice");
    if (typeof value !== "string" && typeof value !== "number") report("type", "string");
    return;
  }
  if (schema.type === "boolean" && typeof value !== "boolean") report("type", "boolean");
  if (schema.type === "integer" || schema.type === "number") checkNumber(schema, value, report);
  if (schema.type === "string") checkText(schema, value, report);
}

function checkNumber({ type, minimum, maximum }: Schema, value: unknown, report: Report): void {
  if (!isNumber(value, type === "integer")) report("type", type);
  else if (minimum !== undefined && Number(value) < minimum) report("minimum", minimum);
  else if (maximum !== undefined && Number(value) > maximum) report("maximum", maximum);
}

/** Whether a value is a number of JSON, or a text with one, which JSON of Protobuf accepts as well. */
function isNumber(value: unknown, isInteger: boolean): boolean {
  if (typeof value !== "number" && typeof value !== "string") return false;
  if (!isInteger && ["NaN", "Infinity", "-Infinity"].includes(String(value))) return true;
  return (isInteger ? /^-?\d+$/ : /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/).test(String(value));
}

function checkText(schema: Schema, given: unknown, report: Report): void {
  const isInteger = schema.format === "int64" || schema.pattern === "^[0-9]+$";
  // JSON of Protobuf accepts integers of 64 bits as numbers, too.
  if (typeof given !== "string" && !(isInteger && typeof given === "number")) {
    report("type", "string");
    return;
  }
  const value = String(given);
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format, contentEncoding } = schema;
  const length = [...value].length;
  if (length < minLength) report("minLength", minLength);
  else if (length > maxLength) report("maxLength", maxLength);
  else if (isInteger && !isNumber(value, true)) report("type", "integer");
  else if (format === "date-time" && !isTime(value)) report("time");
  else if (contentEncoding === "base64" && !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) report("base64");
  else if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) report("pattern", pattern);
}

/** Whether a text is a time of RFC 3339. */
function isTime(value: string): boolean {
  const isWritten = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/.test(value);
  return isWritten && !Number.isNaN(Date.parse(value));
}
