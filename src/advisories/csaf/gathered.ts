// One vulnerability of an export, with the statements of all records about it.
import {
  type AdvisoryRecord,
  type ProductStatus,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { canonicalJson, parseExtra } from "../extra.ts";
import type { Catalog } from "./catalog.ts";
import type { Claim, Loss } from "./claims.ts";
import { type DetailKind, detailKinds } from "./details.ts";
import { toUri } from "./uri.ts";
import { noteOn } from "./words.ts";

/** A claim whose products are numbers and whose details are texts. */
export interface GatheredClaim {
  readonly source: string;
  /** The time of the source's statement, in milliseconds since the epoch. */
  readonly time: number;
  readonly status: ProductStatus;
  readonly words: readonly string[];
  readonly products: readonly number[];
  readonly details: readonly (readonly [kind: DetailKind, text: string])[];
}

/** CSAF 2.0 §3.2.3: members with a single value, and members that are lists. */
const singles = ["cve", "cwe", "title", "release_date", "discovery_date"] as const;
const lists = ["ids", "notes", "references", "acknowledgments", "involvements", "threats"] as const;

/** Gathers the statements of records about one vulnerability. */
export class Gathered {
  readonly claims: GatheredClaim[] = [];
  readonly #name: string;
  readonly #records = new Set<string>();
  readonly #members = new Map<string, unknown>();
  readonly #lists = new Map<string, Map<string, JsonObject>>();
  /** Whether notes are required: documents made from other formats have the profile VEX, which requires them. */
  #needsNotes = false;

  constructor(name: string) {
    this.#name = name;
  }

  /** Adds a record's data about the vulnerability itself. The same record may come with each of its advisories. */
  addRecord(record: AdvisoryRecord, loss: Loss): void {
    const key = JSON.stringify([record.source, record.document, record.vulnerability]);
    if (this.#records.has(key)) return;
    this.#records.add(key);
    const isCsaf = record.format === RecordFormat.CSAF;
    this.#needsNotes ||= !isCsaf;
    const said = isCsaf ? membersOfCsaf(record) : membersOfOthers(record, this.#name, loss);
    for (const [name, value] of Object.entries(said)) {
      if (lists.includes(name as never) && Array.isArray(value)) this.#addItems(name, value.filter(isJsonObject), loss);
      else this.#addMember(name, value, loss);
    }
  }

  addClaim(source: string, time: number, { status, words, products, details }: Claim, catalog: Catalog): void {
    const texts = detailKinds.flatMap((kind) =>
      (details[kind] ?? []).map((item) => [kind, canonicalJson(item)] as const),
    );
    this.claims.push({
      source,
      time,
      status,
      words,
      products: products.map((product) => catalog.numberOf(product)),
      details: texts,
    });
  }

  /** Returns the members of the vulnerability itself. */
  members(): JsonObject {
    const items = lists.map((name) => [name, [...(this.#lists.get(name)?.values() ?? [])]] as const);
    const found = Object.fromEntries([...this.#members, ...items.filter(([, list]) => list.length > 0)]);
    const isCve = this.#members.has("cve");
    const note = { category: "summary", text: noteOn(this.#name) };
    return {
      ...found,
      ...(this.#needsNotes && !found.notes && { notes: [note] }),
      ...(this.#needsNotes && !isCve && !found.ids && { ids: [idJson(this.#name)] }),
    };
  }

  #addMember(name: string, value: unknown, loss: Loss): void {
    if (!this.#members.has(name)) this.#members.set(name, value);
    else if (canonicalJson(this.#members.get(name)) !== canonicalJson(value))
      loss(singles.includes(name as never) ? `a second ${name} of a vulnerability` : "a second value of a member");
  }

  #addItems(name: string, items: readonly JsonObject[], loss: Loss): void {
    const known = this.#lists.get(name) ?? new Map<string, JsonObject>();
    this.#lists.set(name, known);
    for (const item of items) {
      // CSAF 2.0 §6.1.24: a party has one involvement at a time.
      const key = canonicalJson(name === "involvements" ? [item.party, item.date] : item);
      const before = known.get(key);
      if (!before) known.set(key, item);
      else if (canonicalJson(before) !== canonicalJson(item)) loss("a second involvement of a party");
    }
  }
}

function membersOfCsaf({ extra, references }: AdvisoryRecord): JsonObject {
  const { vulnerability } = parseExtra(extra);
  const written = references.map(({ type, url, summary }) => ({
    ...(type !== "" && { category: type }),
    ...(summary !== "" && { summary }),
    url,
  }));
  return { ...(isJsonObject(vulnerability) ? vulnerability : {}), ...(written.length > 0 && { references: written }) };
}

function membersOfOthers(record: AdvisoryRecord, name: string, loss: Loss): JsonObject {
  const ids = [...new Set([record.vulnerability, record.advisoryId, ...record.aliases])];
  const others = ids.filter((id) => id !== "" && id !== name);
  const isCve = isCveId(name);
  const { summary: title, details } = record;
  const notes = [
    ...(details === "" ? [] : [{ category: "description", text: details }]),
    ...(title === "" ? [] : [{ category: "summary", text: title }]),
  ];
  if (record.related.length > 0) loss("related ids");
  if (record.upstream.some((id) => id !== name)) loss("ids of vulnerabilities that a record includes");
  return {
    ...(isCve && { cve: name }),
    ids: (isCve ? others : [name, ...others]).map(idJson),
    ...(title !== "" && { title }),
    notes,
    references: record.references.flatMap(({ url: text, summary, type }) => {
      const url = toUri(text);
      if (url === undefined) loss("a reference that is not an address");
      return url === undefined ? [] : [{ category: "external", summary: summary || type || url, url }];
    }),
  };
}

/** CSAF 2.0 §3.2.3.2. */
export function isCveId(id: string): boolean {
  return /^CVE-[0-9]{4}-[0-9]{4,}$/.test(id);
}

function idJson(text: string): JsonObject {
  return { system_name: /^[A-Za-z]+(?=-)/.exec(text)?.[0] ?? "other", text };
}
