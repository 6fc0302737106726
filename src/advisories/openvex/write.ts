// Writes OpenVEX 0.2.0 (https://github.com/openvex/spec).
import { createHash } from "node:crypto";
import {
  type AdvisoryRecord,
  type AdvisoryStatements,
  ProductStatus,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import { canonicalJson, parseExtra } from "../extra.ts";
import { timeText } from "../times.ts";
import type { Losses, WriteOptions, Writer } from "../writing.ts";
import { type Claim, claimsOf, type Held, heldOf, type Loss } from "./claims.ts";
import { levelOf, settleConflicts } from "./conflicts.ts";
import { idsOf, togetherOf } from "./together.ts";
import { context, joinPlan, noAction, noReason, wordOfStatus } from "./words.ts";

/** The advisories on one vulnerability in one product that are compared. Of more, none is written. */
const mostTogether = 100;

/**
 * Writes a document whose author, id and times are those of the export. Its statements are in the order of the advisories and of
 * their times, with the time of their document where they have none. Advisories on one vulnerability in one product come last, together.
 * Equal ones that follow each other are one statement with
 * several products; of two that say the same, the last is kept.
 */
export const writeOpenvex: Writer = async function* (advisories, options, losses) {
  const head = JSON.stringify(headOf(options), null, 2);
  yield `${head.slice(0, head.lastIndexOf("\n"))},\n  "statements": [`;
  let separator = "\n";
  for await (const group of togetherOf(advisories, options)) {
    const statements = statementsOf(group, losses);
    if (statements.length === 0) continue;
    const text = statements.map((statement) => JSON.stringify(statement, null, 2)).join(",\n");
    yield separator + text.replace(/^/gm, "    ");
    separator = ",\n";
  }
  yield `${separator === "\n" ? "" : "\n  "}]\n}\n`;
};

function headOf({ author, id, time }: WriteOptions): JsonObject {
  return {
    "@context": context,
    "@id": documentId(author, id),
    author,
    timestamp: timeText(time),
    // A version must increase with every change. The time of the last change does, in seconds because versions are small numbers.
    version: Math.max(1, Math.floor(time / 1000)),
  };
}

/** RFC 9562 §5.8: a UUID of our own kind. The same export has the same id, so a reader replaces the earlier version. */
function documentId(author: string, id: string): string {
  const bytes = createHash("sha256")
    .update(JSON.stringify(["openvex", author, id]))
    .digest();
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const [, ...groups] = /^(.{8})(.{4})(.{4})(.{4})(.{12})/.exec(bytes.toString("hex"))!;
  return `urn:uuid:${groups.join("-")}`;
}

/** Returns the statements about one product and one vulnerability. */
function statementsOf(advisories: readonly AdvisoryStatements[], losses: Losses): JsonObject[] {
  const loss: Loss = (what) => losses.add(what, advisories[0]?.advisory?.advisoryId ?? "");
  const all = advisories.flatMap((each) => heldOf(each, loss));
  for (const record of new Set(all.map(({ record }) => record))) countLosses(record, loss);
  // Readers let the last one hold: of one time, that is the worst.
  const claims = all
    .flatMap((held) => claimsOf(held, loss))
    .sort((a, b) => (a.time === b.time ? levelOf(a) - levelOf(b) : a.time - b.time));
  const settled = advisories.length > mostTogether ? undefined : settleConflicts(claims);
  if (!settled)
    for (const _ of advisories) loss("an advisory on which sources disagree in a way that OpenVEX cannot say");
  return joined(lastOfEach(itemsOf(settled ?? [], loss)));
}

/** A statement about one product. */
interface Item {
  /** The members of the statement without the product, and their text. */
  readonly members: JsonObject;
  readonly text: string;
  readonly product: JsonObject;
}

/** Statements that differ in their products only share their members: there can be thousands of them. */
function itemsOf(claims: readonly Claim[], loss: Loss): Item[] {
  let last: (Omit<Item, "product"> & { readonly claim: Claim }) | undefined;
  return claims.flatMap((claim) => {
    if (!claim.json) return [];
    const isSame = last && last.claim.held === claim.held && last.claim.status === claim.status;
    if (!last || !isSame || last.claim.isRepeated !== claim.isRepeated) {
      const members = membersOf(claim, loss);
      last = { claim, members, text: canonicalJson(members) };
    }
    return { members: last.members, text: last.text, product: claim.json };
  });
}

/** Drops the items that a later one repeats. */
function lastOfEach(items: readonly Item[]): Item[] {
  const seen = new Map<string, Set<string>>();
  const kept = items.toReversed().filter(({ text, product }) => {
    const products = seen.get(text) ?? new Set();
    const productText = canonicalJson(product);
    const isNew = !products.has(productText);
    seen.set(text, products.add(productText));
    return isNew;
  });
  return kept.toReversed();
}

/** Makes one statement of items that follow each other and differ in their products only. */
function joined(items: readonly Item[]): JsonObject[] {
  const starts = [...items.keys()].filter((i) => items[i]!.text !== items[i - 1]?.text);
  return starts.map((start, i) => {
    const products = items.slice(start, starts[i + 1]).map(({ product }) => product);
    return inOrder({ ...items[start]!.members, products });
  });
}

/** The members of a statement in the order of the specification. */
const order: readonly string[] = [
  "@id",
  "version",
  "vulnerability",
  "timestamp",
  "last_updated",
  "products",
  "status",
  "supplier",
  "status_notes",
  "justification",
  "impact_statement",
  "action_statement",
  "action_statement_timestamp",
];

function inOrder(statement: JsonObject): JsonObject {
  const members = order.map((name) => [name, statement[name]] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined && value !== ""));
}

/** Returns the members of the statement that makes a claim, without the products. */
function membersOf({ held, status, time, isRepeated }: Claim, loss: Loss): JsonObject {
  const { record, statement } = held;
  const isOwn = record.format === RecordFormat.OPENVEX;
  const extra = isOwn ? parseExtra(statement.extra) : {};
  const { "@id": id, several, version, supplier, last_updated, action_statement_timestamp } = extra;
  if (id !== undefined && several === true && !isRepeated) loss("the id of a statement about several products");
  if (statement.severities.length > 0) loss("a severity");
  return {
    ...(several === true || isRepeated ? {} : { "@id": id, version }),
    supplier,
    last_updated,
    action_statement_timestamp,
    vulnerability: vulnerabilityJson(record, extra),
    timestamp: isRepeated ? textOf(time) : timestampOf(held, extra),
    status: wordOfStatus(status),
    // Texts that explain why versions are affected do not belong to a fix.
    ...(status === statement.status ? explanationOf(held, loss) : {}),
  };
}

/** Returns the time of a statement; undefined means that of the document. */
function timestampOf({ record, statement, time }: Held, extra: JsonObject): unknown {
  if (extra.timestamp !== undefined) return extra.timestamp;
  const inherited = statement.time || record.format !== RecordFormat.OPENVEX ? {} : parseExtra(record.extra);
  if (record.publishTime && inherited.timestamp !== undefined) return inherited.timestamp;
  return textOf(time);
}

function textOf(time: number): string | undefined {
  return Number.isFinite(time) ? timeText(time) : undefined;
}

/**
 * Returns the explanation of a status. OpenVEX has justifications and impacts for products that are not affected, and actions for
 * affected ones. Texts of another status become notes.
 */
function explanationOf({ statement }: Held, loss: Loss): JsonObject {
  const { status, justification, impact, action, notes, plan } = statement;
  if (status === ProductStatus.AFFECTED) {
    if (justification !== "") loss("a justification of what is not `not_affected`");
    return { action_statement: joinPlan(plan, action) || noAction, status_notes: linesOf(notes, impact) };
  }
  if (status === ProductStatus.NOT_AFFECTED) {
    const reason = justification === "" && impact === "" ? noReason : impact;
    return { justification, impact_statement: reason, status_notes: linesOf(joinPlan(plan, notes), action) };
  }
  if (justification !== "") loss("a justification of what is not `not_affected`");
  return { status_notes: linesOf(joinPlan(plan, notes), impact, action) };
}

function linesOf(...texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n");
}

/** Returns the vulnerability as its document calls it; that of other formats by its CVE, by which scanners know it. */
function vulnerabilityJson(record: AdvisoryRecord, extra: JsonObject): JsonObject {
  const { vulnerability, aliases, summary, details } = record;
  if (record.format === RecordFormat.OPENVEX) {
    const { vulnerability_id: id } = { ...parseExtra(record.extra), ...extra };
    return vulnerabilityOf(id, vulnerability, extra.description ?? details, aliases);
  }
  const ids = idsOf(record);
  const name = ids.find((each) => each.startsWith("CVE-")) ?? vulnerability;
  const others = ids.filter((each) => each !== name);
  return vulnerabilityOf(undefined, name, summary || details, others);
}

function vulnerabilityOf(id: unknown, name: string, description: unknown, aliases: readonly string[]): JsonObject {
  return {
    ...(id === undefined ? {} : { "@id": id }),
    name,
    ...(description === "" ? {} : { description }),
    ...(aliases.length === 0 ? {} : { aliases }),
  };
}

/** Counts the data of a record that a statement has no place for. */
function countLosses(
  { severities, references, related, upstream, summary, details }: AdvisoryRecord,
  loss: Loss,
): void {
  if (severities.length > 0) loss("a severity");
  if (references.length > 0) loss("a reference");
  if (related.length > 0 || upstream.length > 1) loss("the id of a related vulnerability");
  if (summary !== "" && details !== "") loss("details of a vulnerability");
}
