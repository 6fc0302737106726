import type { Group, OrgKind, OrgStatus } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { freezeLike, memoizeFrozen } from "../../../base/memoize-frozen.ts";
import { rootOf } from "../../../model/uid.ts";
import type { GroupRow } from "../../../storage/iam/rows.ts";
import type { Standing } from "./organizations.ts";

/**
 * A stored group as a message, with the standing of its organization, which is that of the row where it is one. Of a frozen row it
 * is made once for the same standing.
 */
export function groupMessage(row: GroupRow, standing: Standing = row): Group {
  return shownWith(row, textOf(standing), () => toMessage(row, standing));
}

/** A subgroup of each organization that has any among these groups. */
export const oneOfEach = memoizeFrozen((rows: readonly GroupRow[]) => {
  const subgroups = rows.filter(({ parent }) => parent !== null);
  return [...new Map(subgroups.map((row) => [rootOf(row.uid), row])).values()];
});

/** The groups of a page as messages, with the standings of their organizations by uid; of a frozen page as of a frozen row. */
export function groupMessages(rows: readonly GroupRow[], standings: ReadonlyMap<string, Standing>): readonly Group[] {
  const standingOf = (row: GroupRow) => (row.parent === null ? row : standings.get(rootOf(row.uid))!);
  const texts = [...standings.values()].map(textOf);
  return shownWith(rows, texts.join(), () => rows.map((row) => toMessage(row, standingOf(row))));
}

interface Shown {
  standings?: string;
  messages?: unknown;
}

const lastShown = memoizeFrozen((_from: object): Shown => ({}));

function shownWith<M extends object>(from: object, standings: string, make: () => M): M {
  const shown = lastShown(from);
  if (shown.standings !== standings) {
    shown.messages = freezeLike(from, make());
    shown.standings = standings;
  }
  return shown.messages as M;
}

function textOf({ kind, status }: Standing): string {
  return `${kind} ${status}`;
}

function toMessage(row: GroupRow, standing: Standing): Group {
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
