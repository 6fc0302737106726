// Records the calls of a case, without values that differ from run to run.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

const uid = /[0-9a-f]{40}(?:\/[0-9a-f]{16})*/g;
const publicId = /CGA(?:-[2-9cfghjmpqrvwx]{4}){3}/g;
/** Ids of requests, of changes and of events. */
const id = /\b(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z/g;

/** Members whose texts differ in every run. */
const random = new Set([
  "nextPageToken",
  "resumeAfter",
  "code",
  "keyId",
  "token",
  "etag",
  "state",
  "endpointUrl",
  "partialSince",
]);

/** Replaces uids and public ids by numbers, in the order in which they appear, and other ids, times, page tokens and the texts of `names`. */
export function normalizer(names: Readonly<Record<string, string>>): (value: JsonValue) => JsonValue {
  const numbers = new Map<string, string>();
  const number = (text: string) => {
    const known = numbers.get(text) ?? `<uid ${numbers.size + 1}>`;
    numbers.set(text, known);
    return known;
  };
  const normalizeText = (text: string) => {
    let normal = text.replace(uid, number).replace(publicId, number).replace(id, "<id>").replace(time, "<time>");
    for (const [name, secret] of Object.entries(names)) normal = normal.replaceAll(secret, `<${name}>`);
    return normal;
  };
  const normalize = (value: JsonValue): JsonValue => {
    if (typeof value === "string") return normalizeText(value);
    if (Array.isArray(value)) return value.map(normalize);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [normalizeText(name), normalizeMember(name, member)]),
    );
  };
  const normalizeMember = (name: string, member: JsonValue) =>
    random.has(name) && typeof member === "string" ? `<${name}>` : normalize(member);
  return normalize;
}

/** Returns the reply with one of its lists in the order of the names of its items. */
export function sortedByName(reply: JsonValue, list: string): JsonValue {
  const object = reply as JsonObject;
  const items = object[list];
  if (!Array.isArray(items)) return reply;
  const nameOf = (item: JsonValue) => String((item as JsonObject).name);
  return { ...object, [list]: items.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)) };
}
