// Checks that advisories agree with the records from which they are derived.
import { isDeepStrictEqual } from "node:util";
import { parentOf } from "../../../model/uid.ts";
import type { DerivedTables } from "../../../storage/collection/collection.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { type AdvisoryEventRow, findAdvisoryEvents } from "../../../storage/vulnerabilities/advisories.ts";
import {
  pagesOfAdvisories,
  pagesOfLinks,
  pagesOfRecords,
  type RecordLink,
} from "../../../storage/vulnerabilities/record-check.ts";
import { deleteRecordLink, findRecordLinks, insertRecordLink } from "../../../storage/vulnerabilities/records.ts";
import type { AdvisoryRow } from "../../../storage/vulnerabilities/rows.ts";
import type { AdvisoryState } from "../advisories/advisory-state.ts";
import { newRecordReader } from "./linked-records.ts";
import type { LocatedAdvisory } from "./located-advisories.ts";
import { dueState, refreshAdvisory } from "./refresh-advisory.ts";

/** The tables from which advisories are derived: records, and their links to advisories. */
export const recordTables: DerivedTables = {
  tables: ({ advisoryRecords, advisoryRecordLinks, deletedAdvisories }) => [
    advisoryRecords,
    advisoryRecordLinks,
    deletedAdvisories,
  ],
  async *findings(session) {
    for await (const { advisoryUid, recordId, isMissing } of wrongLinks(session))
      yield `advisories ${advisoryUid}: the link to record ${recordId} ${isMissing ? "is missing" : "does not belong to the record"}`;
    for await (const { located, what } of differing(session)) yield `advisories ${located.uid}: ${what}`;
  },
  async repair(tx) {
    let repaired = 0;
    for await (const { advisoryUid, recordId, isMissing } of wrongLinks(tx)) {
      repaired++;
      if (isMissing) await insertRecordLink(tx, advisoryUid, recordId);
      else await deleteRecordLink(tx, advisoryUid, recordId);
      tx.changeExports(parentOf(advisoryUid));
    }
    for await (const { located } of differing(tx)) {
      repaired++;
      await refreshAdvisory(tx, located, newRecordReader(tx), true);
    }
    return repaired;
  },
};

interface WrongLink extends RecordLink {
  readonly isMissing: boolean;
}

async function* wrongLinks(session: Session): AsyncGenerator<WrongLink> {
  for await (const page of pagesOfRecords(session)) {
    const links = await findRecordLinks(session, [...new Set(page.flatMap(({ advisoryUids }) => advisoryUids))]);
    const known = new Set(links.map(({ advisoryUid, recordId }) => `${advisoryUid} ${recordId}`));
    for (const { id, advisoryUids } of page)
      for (const advisoryUid of advisoryUids)
        if (!known.has(`${advisoryUid} ${id}`)) yield { advisoryUid, recordId: id, isMissing: true };
  }
  for await (const page of pagesOfLinks(session))
    for (const { advisoryUid, recordId, advisoryUids } of page)
      if (!advisoryUids?.includes(advisoryUid)) yield { advisoryUid, recordId, isMissing: false };
}

interface Difference {
  readonly located: LocatedAdvisory;
  readonly what: string;
}

/** How many advisories are read with their records at once. */
const portion = 100;

/** Finds listed advisories that differ from their records. A deleted one stays deleted until one of its records changes. */
async function* differing(session: Session): AsyncGenerator<Difference> {
  for await (const page of pagesOfAdvisories(session)) {
    for (let i = 0; i < page.length; i += portion) yield* differingOf(session, page.slice(i, i + portion));
  }
}

async function* differingOf(session: Session, rows: readonly AdvisoryRow[]): AsyncGenerator<Difference> {
  const uids = rows.map(({ uid }) => uid);
  const links = await findRecordLinks(session, uids);
  const linked = new Set(links.map(({ advisoryUid }) => advisoryUid));
  const events = Map.groupBy(await findAdvisoryEvents(session, uids), ({ advisoryUid }) => advisoryUid);
  const reader = newRecordReader(session);
  for (const row of rows) {
    const before = { row, events: events.get(row.uid) ?? [] };
    if (!linked.has(row.uid) && !before.events.some(({ derived }) => derived)) continue;
    const { uid, name: advisoryId, product: identity } = row;
    const located = { uid, advisoryId, identity, row, isLive: true, isOlder: false };
    const records = await reader.of(uid);
    const due = dueState(located, before, records, row.updateTime);
    if (!due) yield { located, what: "nothing holds that its records say" };
    else if (!isSame(before, due)) yield { located, what: "it is not what its records say" };
  }
}

/** Compares derived events only: the API may have changed fields since the records changed. */
function isSame(before: AdvisoryState, due: AdvisoryState): boolean {
  const { product, lookUpKeys } = before.row;
  return (
    product === due.row.product &&
    // Without a product the keys are derived from the artifact.
    (product === "" || isDeepStrictEqual(lookUpKeys, due.row.lookUpKeys)) &&
    isDeepStrictEqual(derivedOf(before), derivedOf(due))
  );
}

function derivedOf({ events }: AdvisoryState): AdvisoryEventRow[] {
  return events
    .filter(({ derived }) => derived)
    .toSorted((a, b) => a.createTime - b.createTime || (a.uid < b.uid ? -1 : 1));
}
