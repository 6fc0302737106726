// What tests of searches have in common.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { insertAdvisory } from "../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { latestOfKind } from "../../../src/storage/change-log/change-log.ts";
import { insertRow } from "../../../src/storage/collection/collection.ts";
import type { Database } from "../../../src/storage/database.ts";
import type { Session, Transaction } from "../../../src/storage/engine/session.ts";
import { groupCollection } from "../../../src/storage/iam/rows.ts";
import type { RangeSource } from "../../../src/storage/list/range.ts";
import type { TextLimits, TextMemory } from "../../../src/storage/search/text-cache.ts";
import { type AdvisoryFilter, advisoryCondition } from "../../../src/storage/vulnerabilities/advisories.ts";
import { termFilters } from "../../../src/storage/vulnerabilities/advisory-terms.ts";
import { advisoryCollection } from "../../../src/storage/vulnerabilities/rows.ts";
import { groupRow, write } from "../../storage/fixtures.ts";

/** Texts are kept from their first reading on, and are soon too different. */
export const limits: TextLimits = { few: 0, rows: 1000, bytes: 2 ** 24, readings: 0, changes: 12 };
const noFilter = Object.fromEntries([...Object.keys(termFilters), "excludeEventAuthors"].map((name) => [name, []]));
/** The filter that is a search. */
export const filterOf = (query: string) => ({ ...noFilter, query: query.toLowerCase() }) as unknown as AdvisoryFilter;

/** A group with one below it. */
export async function plantGroups(database: Database): Promise<readonly [above: string, below: string]> {
  const above = groupRow(null, "above");
  const below = groupRow(above.uid, "below");
  await write(database, async (tx) => {
    for (const group of [above, below]) await insertRow(tx, groupCollection, { ...group, kind: 0, status: 0 } as never);
  });
  return [above.uid, below.uid];
}

/** Adds an advisory with an id of its own. */
export async function addAdvisory(
  tx: Transaction,
  parent: string,
  init: MessageInitShape<typeof AdvisorySchema>,
): Promise<string> {
  return await insertAdvisory(tx, parent, create(AdvisorySchema, { ...init, advisoryId: crypto.randomUUID() }));
}

/** What is found in memory alone, below a group. */
export async function findIn(database: Database, texts: TextMemory, group: string, query: string) {
  const source: RangeSource = { type: "subtree", uid: group };
  const [finder] = advisoryCondition(filterOf(query))!.finders!;
  return await database.read(async (session: Session) =>
    texts.find(
      ...([
        session,
        advisoryCollection,
        source,
        finder!.text!,
        await latestOfKind(session, "advisories"),
        1000,
      ] as const),
    ),
  );
}
