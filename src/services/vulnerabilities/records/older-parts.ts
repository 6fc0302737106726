// Withdraws parts of records of earlier versions, in which each further product of an OSV record was an advisory of its own.
import type { AdvisoryRecord } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { findAdvisoriesByAlias } from "../../../storage/vulnerabilities/advisories.ts";
import { derivedId } from "../advisories/advisory-fields.ts";
import { deleteState, stateOf } from "../advisories/advisory-state.ts";

/**
 * Withdraws the parts that a record of an earlier version had and the new record lacks. Such a part has an id derived from that of the
 * record, and the id of the record as alias. Parts with other sources stay.
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
