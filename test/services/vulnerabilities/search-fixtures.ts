// Fixtures that tests of searches share.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { insertAdvisory } from "../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { insertRow } from "../../../src/storage/collection/rows.ts";
import type { Database } from "../../../src/storage/database.ts";
import type { Transaction } from "../../../src/storage/engine/session.ts";
import { groupCollection } from "../../../src/storage/iam/collections.ts";
import type { AdvisoryFilter } from "../../../src/storage/vulnerabilities/advisories.ts";
import { termFilters } from "../../../src/storage/vulnerabilities/advisory-terms.ts";
import { groupRow, write } from "../../storage/fixtures.ts";

const noFilter = Object.fromEntries([...Object.keys(termFilters), "excludeEventAuthors"].map((name) => [name, []]));
/** Returns the filter that is a search. */
export const filterOf = (query: string) => ({ ...noFilter, query: query.toLowerCase() }) as unknown as AdvisoryFilter;

/** Returns a group with one below it, and a group of another organization. */
export async function plantGroups(database: Database): Promise<readonly [above: string, below: string, other: string]> {
  const above = groupRow(null, "above");
  const below = groupRow(above.uid, "below");
  const other = groupRow(null, "other");
  await write(database, async (tx) => {
    for (const group of [above, below, other])
      await insertRow(tx, groupCollection, { ...group, kind: 0, status: 0 } as never);
  });
  return [above.uid, below.uid, other.uid];
}

/** Adds an advisory with an id of its own. */
export async function addAdvisory(
  tx: Transaction,
  parent: string,
  init: MessageInitShape<typeof AdvisorySchema>,
): Promise<string> {
  return await insertAdvisory(tx, parent, create(AdvisorySchema, { ...init, advisoryId: crypto.randomUUID() }));
}
