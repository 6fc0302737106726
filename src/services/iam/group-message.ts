import type { Group, OrgKind, OrgStatus } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { onceFrozen } from "../../frozen.ts";
import { rootOf } from "../../uid.ts";
import type { Standing } from "./organizations.ts";
import type { GroupRow } from "./rows.ts";

/** A stored group as a message, with the standing of its organization, which is that of the row where it is one. */
export function groupMessage(row: GroupRow, standing: Standing = row): Group {
  const { uid, name, description, resourceLimits, verified } = row;
  const [kind, status] = [standing.kind as OrgKind, standing.status as OrgStatus];
  return {
    $typeName: "chainguard.platform.iam.v2beta1.Group",
    uid,
    name,
    description,
    resourceLimits,
    verified,
    kind,
    status,
    createTime: toTimestamp(row.createTime),
    updateTime: toTimestamp(row.updateTime),
  };
}

/** A subgroup of each organization that has any among these groups. */
export const oneOfEach = onceFrozen((rows: readonly GroupRow[]) => {
  const subgroups = rows.filter(({ parent }) => parent !== null);
  return [...new Map(subgroups.map((row) => [rootOf(row.uid), row])).values()];
});

interface Shown {
  standings: string | undefined;
  messages: readonly Group[];
}

const lastShown = onceFrozen((_rows: readonly GroupRow[]): Shown => ({ standings: undefined, messages: [] }));

/**
 * The groups of a page as messages, with the standings of their organizations by uid. Of a frozen page they are made once for
 * the same standings.
 */
export function groupMessages(rows: readonly GroupRow[], standings: ReadonlyMap<string, Standing>): readonly Group[] {
  const shown = lastShown(rows);
  const now = [...standings.values()].map(({ kind, status }) => `${kind} ${status}`).join();
  if (shown.standings !== now) {
    const messages = rows.map((row) => groupMessage(row, row.parent === null ? row : standings.get(rootOf(row.uid))));
    shown.messages = Object.isFrozen(rows) ? Object.freeze(messages) : messages;
    shown.standings = now;
  }
  return shown.messages;
}
