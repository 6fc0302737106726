// Parts of records as earlier versions stored them: each other product of an OSV record was an advisory of its own.
import type { AdvisoryRecord } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { findAdvisoriesByAlias } from "../../../storage/vulnerabilities/advisories.ts";
import { derivedId } from "../advisories/advisory-fields.ts";
import { deleteState, stateOf } from "../advisories/advisory-state.ts";

/**
 * Withdraws the parts that a record of an earlier version had, and that it does not have any more. Such a part is known by its id, which
 * was derived from the record's, and by the record's id among its aliases. What others have said something of stays.
 */
export async function withdrawOlderParts(
  tx: Transaction,
  parent: string,
  { advisoryId, source }: AdvisoryRecord,
  deleteTime: number,
): Promise<void> {
  if (advisoryId === "") return;
  for (const row of await findAdvisoriesByAlias(tx, parent, advisoryId, source)) {
    const { artifactType: type, artifactName: name } = row;
    if (row.product !== "" || row.name !== derivedId({ type, name }, advisoryId)) continue;
    const state = await stateOf(tx, row);
    if (state.events.every(({ author }) => author === source)) await deleteState(tx, state, deleteTime);
  }
}
