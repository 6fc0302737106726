import type { Group, OrgKind, OrgStatus } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { freezeLike, memoizeFrozen } from "../../../base/memoize-frozen.ts";
import { rootOf } from "../../../model/uid.ts";
import type { GroupRow } from "../../../storage/iam/rows.ts";
import type { OrganizationState } from "./organizations.ts";

/**
 * Converts a stored group to its message, with the kind and status of its organization. Memoized for cached rows, until the
 * organization's state changes.
 */
export function groupMessage(row: GroupRow, state: OrganizationState = row): Group {
  return memoizeForState(row, keyOf(state), () => toMessage(row, state));
}

/** Returns one subgroup of each organization that has subgroups among these groups. */
export const onePerOrganization = memoizeFrozen((rows: readonly GroupRow[]) => {
  const subgroups = rows.filter(({ parent }) => parent !== null);
  return [...new Map(subgroups.map((row) => [rootOf(row.uid), row])).values()];
});

/** Converts the groups of a page to messages. `states` are those of their organizations by uid. Memoized for cached pages. */
export function groupMessages(
  rows: readonly GroupRow[],
  states: ReadonlyMap<string, OrganizationState>,
): readonly Group[] {
  const stateOf = (row: GroupRow) => (row.parent === null ? row : states.get(rootOf(row.uid))!);
  const keys = [...states.values()].map(keyOf);
  return memoizeForState(rows, keys.join(), () => rows.map((row) => toMessage(row, stateOf(row))));
}

interface LastMessages {
  state?: string;
  messages?: unknown;
}

const lastMessages = memoizeFrozen((_from: object): LastMessages => ({}));

/** Returns what `make` made for the same object and the same state of its organizations. */
function memoizeForState<M extends object>(from: object, state: string, make: () => M): M {
  const last = lastMessages(from);
  if (last.state !== state) {
    last.messages = freezeLike(from, make());
    last.state = state;
  }
  return last.messages as M;
}

function keyOf({ kind, status }: OrganizationState): string {
  return `${kind} ${status}`;
}

function toMessage(row: GroupRow, state: OrganizationState): Group {
  const { uid, name, description, resourceLimits, verified } = row;
  const [kind, status] = [state.kind as OrgKind, state.status as OrgStatus];
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
