// Reads OSV: https://ossf.github.io/osv-schema/. A record is one source's statement about one vulnerability.
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  type ProductStatement,
  RecordFormat,
  type RecordReference,
  RecordReferenceSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { documentLimits, type Members, readItem } from "../document.ts";
import { extraOf } from "../extra.ts";
import type { Reader } from "../reading.ts";
import type { ReadTime } from "../times.ts";
import { readAffected } from "./affected.ts";
import { objectsOf, readItems, readSeverities } from "./items.ts";
import { referenceJson } from "./json.ts";

/** Whether a document is a record, or a list of records: one that is wrong does not make it another document. */
export function isOsv(document: unknown): boolean {
  const items: readonly unknown[] = Array.isArray(document) ? document : [document];
  // An export of a group without advisories.
  if (items.length === 0) return true;
  return items.some(
    (each) =>
      isJsonObject(each) &&
      typeof each.id === "string" &&
      (typeof each.modified === "string" || Array.isArray(each.affected)),
  );
}

/** Whether a document is an index of a database, which names records or modules and holds no records. Ask before `isOsv`. */
export function isOsvIndex(document: unknown): boolean {
  const entries: readonly unknown[] = Array.isArray(document) ? document : [];
  const isEvery = (names: readonly string[]) => entries.every((entry) => hasOnly(entry, names));
  // `all.json` of a feed; `vulns.json`, `modules.json` and `db.json` of the Go vulnerability database.
  if (entries.length > 0) return isEvery(["id", "modified", "aliases"]) || isEvery(["path", "vulns"]);
  return hasOnly(document, ["modified"]);
}

function hasOnly(value: unknown, names: readonly string[]): boolean {
  if (!isJsonObject(value)) return false;
  const own = Object.keys(value);
  return own.length > 0 && own.every((name) => names.includes(name));
}

/** Reads a record, or a list of records. */
export const readOsv: Reader = (document, { source }) => ({ items: itemsOf(document, source || "osv") });

function* itemsOf(document: unknown, source: string) {
  for (const value of Array.isArray(document) ? document : [document]) {
    const name = isJsonObject(value) && typeof value.id === "string" ? value.id : "";
    yield readItem(name, value, (record) => readRecord(record, source));
  }
}

function readRecord(record: Members, source: string): AdvisoryRecord {
  const said = record.requiredText("id");
  const id = readId(record, said);
  const modified = record.requiredTime("modified");
  const published = record.time("published");
  const withdrawn = record.time("withdrawn");
  const related = record.texts("related");
  const severity = readSeverities(record);
  const references = readItems(record, "references", readReference, referenceJson);
  const texts = { aliases: record.texts("aliases"), summary: record.text("summary"), details: record.text("details") };
  const publicId = publicIdOf(id, related);
  const upstream = record.texts("upstream");
  const cves = texts.aliases.length + upstream.length === 0 && id.startsWith("CGA-") ? othersOf(related, id) : [];
  const statements = statementsOf(record, published ?? modified);
  return create(AdvisoryRecordSchema, {
    // By its own id, a record whose id was repaired does not replace the one that has the repaired id.
    source,
    ...keyOf(id === said ? publicId : said),
    advisoryId: publicId,
    format: RecordFormat.OSV,
    modifyTime: modified.timestamp,
    ...texts,
    related,
    upstream: [...upstream, ...cves],
    statements,
    ...(published ? { publishTime: published.timestamp } : {}),
    ...(withdrawn ? { withdrawTime: withdrawn.timestamp } : {}),
    severities: severity.items,
    references: references.items,
    extra: extraOf({
      id: id === publicId ? undefined : id,
      // Feeds of this kind have the ids of the vulnerability among the related ones alone.
      upstream: cves.length === 0 ? undefined : null,
      modified: rawOf(modified),
      published: rawOf(published),
      withdrawn: rawOf(withdrawn),
      severity: severity.whole,
      references: references.whole,
      credits: creditsOf(record),
      ...objectsOf(record, ["database_specific"]),
      schema_version: record.text("schema_version") || undefined,
      ...record.rest(),
    }),
  });
}

/** A record of whose packages one cannot be read would say that it is not affected. */
function statementsOf(record: Members, time: ReadTime): ProductStatement[] {
  const items = record.strict().objects("affected", documentLimits.packages);
  return items.map((item) => readAffected(item, time));
}

/** Returns the id, with each blank as a hyphen: ids are words of requests, paths and lists. */
function readId(record: Members, said: string): string {
  const id = said.trim().replace(/\s+/g, "-");
  if (id === said) return said;
  record.repair("id", `is read as ${JSON.stringify(id)}, since ids have no blanks`);
  return id;
}

function keyOf(id: string): Pick<AdvisoryRecord, "document" | "vulnerability"> {
  return { document: id, vulnerability: id };
}

/** Our own records of databases that OSV has not registered have `x_` before the id, which is among the related ones. */
function publicIdOf(id: string, related: readonly string[]): string {
  const own = id.slice("x_".length);
  return id.startsWith("x_") && related.includes(own) ? own : id;
}

function othersOf(ids: readonly string[], own: string): string[] {
  return ids.filter((id) => id !== own);
}

/** Returns the text of a time that the message does not hold exactly. OSV has times in UTC only. */
function rawOf(time: ReadTime | undefined): string | undefined {
  return time && /^[0-9T:.-]+Z$/.test(time.raw) ? time.raw : undefined;
}

function readReference(item: Members): RecordReference | undefined {
  const [type, url] = [item.text("type"), item.text("url")];
  if (url === "") item.drop("url", "is missing");
  return url === "" ? undefined : create(RecordReferenceSchema, { type, url });
}

/** Returns the credits of a record in the form of OSV. */
function creditsOf(record: Members): JsonObject[] | undefined {
  const credits = record.objects("credits").map((credit) => ({ whole: credit.rest(), name: credit.text("name") }));
  const named = credits.filter(({ name }) => name !== "").map(({ whole }) => whole);
  return named.length === 0 ? undefined : named;
}
