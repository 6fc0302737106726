// Calls as examples of the documents: without what differs from run to run.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Example } from "../../src/openapi/examples.ts";
import type { RestRequest } from "../harness/rest-client.ts";
import type { Placed } from "./documents.ts";

/** Members and parameters whose texts differ in every run. */
const random: ReadonlySet<string> = new Set([
  "nextPageToken",
  "pageToken",
  "resumeAfter",
  "code",
  "keyId",
  "token",
  "etag",
  "endpointUrl",
]);

/** Members whose days differ from run to run, with the day in their place. */
const fixedDays: Readonly<Record<string, string>> = { partialSince: "2026-01-01" };

const uid = /\b[0-9a-f]{40}(?:\/[0-9a-f]{16})*/g;
const publicId = /CGA(?:-[2-9cfghjmpqrvwx]{4}){3}/g;
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{32}\b/g, "0".repeat(32)],
  // The ids of events.
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "7d1d8a3a-8a0f-4b7c-9a53-d5ad1e9b1b3f"],
  // The state of what a group exports.
  [/^[0-9a-f]{16}$/g, "0".repeat(16)],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z/g, "2026-01-31T12:00:00Z"],
  [/\b[a-z0-9-]+-\d+\.example\b/g, "acme.example"],
  [/http:\/\/127\.0\.0\.1:\d+/g, "https://gatehouse.example.org"],
  [/:\d{4,5}\b/g, ":8080"],
  // Packages are compared in the background, before the call or after it.
  [/^CHECK_STATE_PENDING$/g, "CHECK_STATE_CHECKED"],
];

/** Returns a call as an example. */
export function exampleOf(placed: Placed, { target, body }: RestRequest, received: string): Example {
  const normal = normalizer();
  const [path, query = ""] = target.split("?") as [string, string?];
  const parameters = normal({ ...pathValues(placed, path), ...queryValues(placed, query) }) as JsonObject;
  const reply = received === "" ? undefined : (normal(JSON.parse(received)) as JsonValue);
  return {
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(body !== undefined && { body: normal(body) }),
    ...(reply !== undefined && { reply }),
  };
}

/**
 * Returns a rank for the least informative calls: responses with nothing but empty lists rank highest, then lists without items, objects
 * without members, and long texts.
 */
export function poverty(example: Example): number {
  const text = JSON.stringify(example);
  const count = (of: RegExp) => text.match(of)?.length ?? 0;
  return text.length + 1500 * count(/\[\]/g) + 1000 * count(/\{\}/g) + (isEmptyList(example.reply) ? 1_000_000 : 0);
}

/** Whether a response has lists, and none of them has an entry. */
export function isEmptyList(reply: JsonValue | undefined): boolean {
  if (typeof reply !== "object" || reply === null) return false;
  const lists = Object.values(reply).filter((member) => Array.isArray(member));
  return lists.length > 0 && lists.every(({ length }) => length === 0);
}

function pathValues({ path }: Placed, given: string): JsonObject {
  const names = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name!);
  const pattern = new RegExp(`^${path.replace(/\{[^}]*\}/g, "([^/]+)")}$`);
  const values = pattern.exec(given)?.slice(1) ?? [];
  return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(values[i]!)]));
}

function queryValues({ operation }: Placed, query: string): JsonObject {
  const given = new URLSearchParams(query);
  const parameters = (operation.parameters ?? []).filter(({ name, in: place }) => place === "query" && given.has(name));
  return Object.fromEntries(
    parameters.map(({ name, schema }) => {
      const values = given.getAll(name).map((text) => valueFrom(schema.type === "array" ? schema.items : schema, text));
      return [name, schema.type === "array" ? values : values[0]!];
    }),
  );
}

function valueFrom(schema: JsonValue | undefined, text: string): JsonValue {
  const { type } = schema as JsonObject;
  if (type === "boolean") return text === "true";
  return type === "integer" ? Number(text) : text;
}

/** Gives every uid and public id a number, in the order in which they appear. */
function normalizer(): (value: JsonValue) => JsonValue {
  const names = new Map<string, string>();
  const named = (text: string, make: (count: number) => string) => {
    const known = names.get(text) ?? make(names.size + 1);
    names.set(text, known);
    return known;
  };
  const segment = (text: string) => named(text, (count) => String(count).padStart(text.length, "0"));
  const normalText = (text: string) =>
    patterns.reduce(
      (result, [pattern, replacement]) => result.replace(pattern, replacement),
      text
        .replace(uid, (found) => found.split("/").map(segment).join("/"))
        .replace(publicId, (found) => named(found, (count) => `CGA-2222-2222-22${String(count + 21)}`)),
    );
  const normal = (value: JsonValue, name = ""): JsonValue => {
    if (typeof value === "string" && value !== "" && random.has(name)) return `<${name}>`;
    if (typeof value === "string") return fixedDays[name] ?? normalText(value);
    if (Array.isArray(value)) return value.map((item) => normal(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [normalText(key), normal(item, key)]));
  };
  return normal;
}
