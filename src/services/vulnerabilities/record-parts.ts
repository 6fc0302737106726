// Parts of a record: what else it affects, each an advisory of its own.
import { findAdvisoriesByAlias } from "../../storage/advisories.ts";
import type { Session } from "../../storage/session.ts";
import { derivedId } from "./advisory-fields.ts";
import { type AdvisoryState, stateOf } from "./advisory-state.ts";
import type { ImportItem } from "./import-plan.ts";
import { toldTime } from "./rows.ts";

/**
 * The parts that a record had in an older copy and has no more. A part is known by its id, which is made from the record's,
 * and by the record's id among its aliases. The ids of other sources may be the same: what somebody else has said something
 * of is theirs, too.
 */
export async function findDroppedParts(session: Session, parent: string, item: ImportItem): Promise<AdvisoryState[]> {
  const { name, fields, modifyTime, parts } = item;
  if (!parts || modifyTime === undefined) return [];
  const kept = new Set(parts);
  const related = await findAdvisoriesByAlias(session, parent, name, fields.author);
  const dropped = related.filter((row) => {
    const { artifactType: type, artifactName, name: id } = row;
    const isPart = id === derivedId({ type, name: artifactName }, name);
    return isPart && !kept.has(id) && toldTime(row, fields.author) < modifyTime;
  });
  const states: AdvisoryState[] = [];
  for (const row of dropped) states.push(await stateOf(session, row));
  return states.filter(({ events }) => events.every(({ author }) => author === fields.author));
}
