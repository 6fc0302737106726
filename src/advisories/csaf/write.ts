// Writes CSAF 2.0: one document, in the profile VEX where everything in it keeps the rules of that profile.

import {
  type AdvisoryRecord,
  type AdvisoryStatements,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { nextSlice } from "../../base/slices.ts";
import { parseExtra } from "../extra.ts";
import { timeText } from "../times.ts";
import type { Losses, WriteOptions, Writer } from "../writing.ts";
import { Catalog } from "./catalog.ts";
import { claimsOf, timeOfClaim } from "./claims.ts";
import { Gathered, isCveId } from "./gathered.ts";
import { settle } from "./settle.ts";
import { toUri } from "./uri.ts";

/**
 * Writes a document. A CVE has one place in it, and its advisories come one by one: the vulnerabilities are in memory until all
 * advisories are there. The head comes last, since the profile follows from the rest.
 */
export const writeCsaf: Writer = async function* (advisories, options, losses) {
  const catalog = new Catalog();
  const vulnerabilities = await gather(advisories, catalog, losses);
  let isWritten = false;
  let profile = "csaf_vex";
  for (const [name, gathered] of vulnerabilities) {
    await nextSlice();
    const vulnerability = vulnerabilityJson(gathered, (what) => losses.add(what, name));
    if (!isVex(vulnerability)) {
      losses.add("the profile VEX, whose rules a source does not keep", name);
      profile = "csaf_base";
    }
    yield `${isWritten ? ",\n" : '{\n"vulnerabilities": [\n'}${JSON.stringify(vulnerability)}`;
    isWritten = true;
    vulnerabilities.delete(name);
  }
  if (isWritten) {
    yield '\n],\n"product_tree": ';
    yield* catalog.write();
  }
  const head = JSON.stringify(headOf(options, isWritten ? profile : "csaf_base", isWritten), null, 2);
  yield `${isWritten ? ",\n" : "{\n"}"document": ${head}\n}\n`;
};

async function gather(
  advisories: AsyncIterable<AdvisoryStatements>,
  catalog: Catalog,
  losses: Losses,
): Promise<Map<string, Gathered>> {
  const vulnerabilities = new Map<string, Gathered>();
  for await (const { advisory, records } of advisories) {
    const loss = (what: string) => losses.add(what, advisory?.advisoryId ?? "");
    for (const record of records.filter(({ withdrawTime }) => withdrawTime === undefined)) {
      // A record of OSV comes with all of its statements; those of other advisories come with these, too.
      const own = record.statements.filter(({ advisoryId: id }) => id === "" || id === advisory?.advisoryId);
      const claims = own.flatMap((statement) =>
        claimsOf(record, statement, loss).map((claim) => ({ claim, time: timeOfClaim(record, statement) })),
      );
      if (claims.length === 0) continue;
      const name = nameOf(record);
      const gathered = vulnerabilities.get(name) ?? new Gathered(name);
      vulnerabilities.set(name, gathered);
      gathered.addRecord(record, loss);
      for (const { claim, time } of claims) gathered.addClaim(record.source, time, claim, catalog);
    }
  }
  return vulnerabilities;
}

/** Returns the name of the vulnerability that a record is about: its CVE, where it has one. */
function nameOf({ format, vulnerability, aliases, upstream, extra }: AdvisoryRecord): string {
  if (format === RecordFormat.CSAF) {
    const said = parseExtra(extra).vulnerability;
    return isJsonObject(said) && typeof said.cve === "string" ? said.cve : vulnerability;
  }
  const own = [vulnerability, ...aliases].find(isCveId);
  const included = upstream.filter(isCveId);
  return own ?? (included.length === 1 ? included[0]! : vulnerability);
}

function vulnerabilityJson(gathered: Gathered, loss: (what: string) => void): JsonObject {
  const { statuses, details } = settle(gathered.claims, loss);
  const { threats: general = [], ...members } = gathered.members();
  const threats = [...(general as JsonObject[]), ...(details.threats ?? [])];
  return { ...members, product_status: statuses, ...details, ...(threats.length > 0 && { threats }) };
}

function headOf({ author, id, time }: WriteOptions, category: string, hasVulnerabilities: boolean): JsonObject {
  const date = timeText(time);
  const note = { category: "general", text: "There are no advisories." };
  return {
    category,
    csaf_version: "2.0",
    title: `Vulnerability status by ${author}`,
    ...(!hasVulnerabilities && { notes: [note] }),
    publisher: { category: "other", name: author, namespace: namespaceOf(author) },
    tracking: {
      id: `gatehouse-${id}`,
      status: "final",
      version: "1",
      initial_release_date: date,
      current_release_date: date,
      revision_history: [{ date, number: "1", summary: "Exported" }],
    },
  };
}

// CSAF 2.0 §3.2.1.8.5: the namespace is an address that the publisher owns. `.invalid` is nobody's (RFC 6761 §6.4).
function namespaceOf(author: string): string {
  const label = author
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return toUri(author) ?? `https://${label || "publisher"}.invalid`;
}

/** Whether a vulnerability keeps the rules of the profile VEX. */
function isVex(vulnerability: JsonObject): boolean {
  const { cve, ids, notes, flags, threats, remediations } = vulnerability;
  const statuses = isJsonObject(vulnerability.product_status) ? vulnerability.product_status : {};
  const hasStatus = ["fixed", "known_affected", "known_not_affected", "under_investigation"].some(
    (each) => each in statuses,
  );
  if ((cve === undefined && ids === undefined) || notes === undefined || !hasStatus) return false;
  const impacts = itemsIn(threats).filter(({ category }) => category === "impact");
  const reasoned = productsIn([...itemsIn(flags), ...impacts]);
  const acted = productsIn(itemsIn(remediations));
  return (
    textsIn(statuses.known_not_affected).every((id) => reasoned.has(id)) &&
    textsIn(statuses.known_affected).every((id) => acted.has(id))
  );
}

function itemsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

function productsIn(items: readonly JsonObject[]): Set<string> {
  return new Set(items.flatMap(({ product_ids: products }) => textsIn(products)));
}
