// Filters (RFC 7644 §3.4.2.2): parsed by scim2-parse-filter, and compared here by the rules of the attributes.
import { type Compare, type Filter, parse } from "scim2-parse-filter";
import { isJsonObject } from "../base/json.ts";
import type { ScimCondition } from "../storage/iam/scim-users.ts";
import { scimLimits } from "./limits.ts";
import { schemas } from "./schemas.ts";
import { type ScimErrorType, scimError } from "./scim-error.ts";

export type { Filter };

/** A filter, and the condition in it that the database evaluates by an index. */
export interface Query {
  readonly condition: ScimCondition | undefined;
  /** The rest of the filter, to evaluate on each row; undefined if the condition is the whole filter. */
  readonly filter: Filter | undefined;
}

/** Parses a filter. `type` is the error of a wrong one. */
export function parseFilter(text: string, type: ScimErrorType = "invalidFilter"): Filter {
  if (text.length > scimLimits.filterLength)
    throw scimError(type, `the filter is longer than ${scimLimits.filterLength} characters`);
  // JSON has no control characters in texts (RFC 8259 §7), and no name has one.
  if (/\p{Cc}/u.test(text))
    throw scimError(type, "the filter has a control character; write it as \\u and four digits");
  const filter = parseWithTexts(text, type);
  if (countTerms(filter) > scimLimits.filterTerms)
    throw scimError(type, `the filter has more than ${scimLimits.filterTerms} comparisons`);
  return filter;
}

function parseWithTexts(text: string, type: ScimErrorType): Filter {
  const invalid = () => scimError(type, `the filter is not valid: ${JSON.stringify(text.slice(0, 200))}`);
  const { filter, texts } = orElse(() => replaceTexts(text), invalid);
  // The parser calls itself for each parenthesis.
  if ((filter.match(/[([]|\bnot\b/gi)?.length ?? 0) > scimLimits.filterTerms)
    throw scimError(type, `the filter has more than ${scimLimits.filterTerms} parentheses`);
  return restoreTexts(
    orElse(() => parse(filter), invalid),
    texts,
  );
}

/** Returns the result of the function; throws the other error if it throws. */
function orElse<T>(body: () => T, error: () => Error): T {
  try {
    return body();
  } catch {
    throw error();
  }
}

/** Counts the comparisons of a filter. */
export function countTerms(filter: Filter): number {
  if (filter.op === "and" || filter.op === "or") return filter.filters.reduce((sum, each) => sum + countTerms(each), 0);
  if (filter.op === "not") return countTerms(filter.filter);
  return filter.op === "[]" ? countTerms(filter.valFilter) : 1;
}

/**
 * Splits a filter into a condition for the database and the rest. `columns` are those of the table, and `uidOf` makes the
 * uid of an id.
 */
export function planFilter(
  filter: Filter | undefined,
  columns: readonly ScimCondition["column"][],
  uidOf: (id: string) => string,
): Query {
  if (!filter) return { condition: undefined, filter: undefined };
  const translate = (each: Filter) => {
    const condition = conditionOf(each, uidOf);
    return condition && columns.includes(condition.column) ? condition : undefined;
  };
  const whole = translate(filter);
  if (whole) return { condition: whole, filter: undefined };
  if (filter.op !== "and") return { condition: undefined, filter };
  // Equality with a unique attribute leaves the fewest rows.
  const found = filter.filters.map(translate).filter((each) => each !== undefined);
  const rank = ({ column, operator }: ScimCondition) =>
    operator === "eq" && column !== "isActive" ? 0 : operator === "sw" ? 1 : 2;
  return { condition: found.sort((a, b) => rank(a) - rank(b))[0], filter };
}

/** Returns the condition with the same meaning, if an index has the attribute. */
function conditionOf(filter: Filter, uidOf: (id: string) => string): ScimCondition | undefined {
  if (!("compValue" in filter)) return undefined;
  const { op, compValue: value } = filter;
  const name = pathOf(filter.attrPath).join(".");
  if (typeof value === "boolean")
    return name === "active" && op === "eq" ? { column: "isActive", operator: op, value } : undefined;
  if (typeof value !== "string" || !value.isWellFormed() || value.includes("\0")) return undefined;
  if (name === "id" && op === "eq") return { column: "uid", operator: op, value: uidOf(value) };
  if (name === "externalid" && op === "eq") return { column: "externalId", operator: op, value };
  if (op === "eq" || op === "sw") {
    if (name === "username") return { column: "userNameKey", operator: op, value: value.toLowerCase() };
    if (name === "displayname") return { column: "displayNameKey", operator: op, value: value.toLowerCase() };
  }
  const time = Date.parse(value);
  if (name === "meta.lastmodified" && (op === "gt" || op === "ge") && !Number.isNaN(time))
    return { column: "updateTime", operator: op, value: time };
  return undefined;
}

/** Whether a resource, as it is sent, matches a filter. */
export function matches(resource: unknown, filter: Filter): boolean {
  switch (filter.op) {
    case "or":
      return filter.filters.some((each) => matches(resource, each));
    case "and":
      return filter.filters.every((each) => matches(resource, each));
    case "not":
      return !matches(resource, filter.filter);
    case "[]":
      return valuesAt(resource, pathOf(filter.attrPath)).some((each) => matches(each, filter.valFilter));
    case "pr":
      return valuesAt(resource, pathOf(filter.attrPath)).some((each) => each !== "");
    default:
      return compare(resource, filter);
  }
}

function compare(resource: unknown, { op, attrPath, compValue }: Compare): boolean {
  const path = pathOf(attrPath);
  // A comparison with a whole value means its sub-attribute `value`: Entra sends `members eq "id"`.
  const values = valuesAt(resource, path).map((each) => (isJsonObject(each) ? each.value : each));
  if (compValue === null) return (values.length === 0) === (op === "eq");
  if (op === "ne") return !values.some((each) => test("eq", each, compValue, path));
  return values.some((each) => test(op, each, compValue, path));
}

function test(op: Compare["op"], value: unknown, wanted: string | number | boolean, path: readonly string[]): boolean {
  if (typeof value === "boolean") return op === "eq" && String(value) === String(wanted).toLowerCase();
  if (typeof value !== "string") return false;
  const [left, right] = comparable(value, String(wanted), path);
  if (typeof left === "string" && typeof right === "string") {
    if (op === "co") return left.includes(right);
    if (op === "sw") return left.startsWith(right);
    if (op === "ew") return left.endsWith(right);
  }
  if (op === "eq") return left === right;
  if (op === "gt") return left > right;
  if (op === "ge") return left >= right;
  if (op === "lt") return left < right;
  return op === "le" && left <= right;
}

/** The attributes whose case matters, as last segments of paths. */
const exact: ReadonlySet<string> = new Set(
  ["id", "externalid", "location", "version"].concat(
    schemas
      .flatMap(({ attributes }) => attributes.flatMap((each) => [each, ...(each.subAttributes ?? [])]))
      .filter(({ caseExact, name }) => caseExact && name !== "value")
      .map(({ name }) => name.toLowerCase()),
  ),
);

function comparable(value: string, wanted: string, path: readonly string[]): [string | number, string | number] {
  const last = path.at(-1) ?? "";
  if (last === "created" || last === "lastmodified") return [Date.parse(value), Date.parse(wanted)];
  return exact.has(last) ? [value, wanted] : [value.toLowerCase(), wanted.toLowerCase()];
}

/** Returns the names of a path in lower case. The name of the core schemas is left out, that of the extension is the first. */
function pathOf(attrPath: string): string[] {
  const path = attrPath.toLowerCase();
  const schema = schemas.find(({ id }) => path === id.toLowerCase() || path.startsWith(`${id.toLowerCase()}:`));
  if (!schema) return path.split(".");
  const rest = path.slice(schema.id.length + 1);
  const names = rest === "" ? [] : rest.split(".");
  return schema.id.includes(":extension:") ? [schema.id.toLowerCase(), ...names] : names;
}

/** Returns the values at a path; those of each element of a list. */
function valuesAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => valuesAt(each, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return value === undefined || value === null ? [] : [value];
  if (!isJsonObject(value)) return [];
  const key = Object.keys(value).find((each) => each.toLowerCase() === name);
  return key === undefined ? [] : valuesAt(value[key], rest);
}

/**
 * Replaces each text of a filter by a placeholder, and returns the texts that JSON reads there. Throws if one is not JSON.
 *
 * For `displayName eq "R\\u0026D"` returns `displayName eq "0"` and `["R&D"]`.
 */
function replaceTexts(filter: string): { filter: string; texts: string[] } {
  const texts: string[] = [];
  const replaced = filter.replace(/"(?:[^"\\]|\\.)*"/g, (literal) => {
    texts.push(JSON.parse(literal));
    return `"${texts.length - 1}"`;
  });
  return { filter: replaced, texts };
}

/** Returns a parsed filter with the texts in the place of their placeholders. */
function restoreTexts(filter: Filter, texts: readonly string[]): Filter {
  if (filter.op === "and" || filter.op === "or")
    return { ...filter, filters: filter.filters.map((each) => restoreTexts(each, texts)) };
  if (filter.op === "not") return { ...filter, filter: restoreTexts(filter.filter, texts) };
  if (filter.op === "[]") return { ...filter, valFilter: restoreTexts(filter.valFilter, texts) };
  if (!("compValue" in filter) || typeof filter.compValue !== "string") return filter;
  return { ...filter, compValue: texts[Number(filter.compValue)]! };
}
