// Counts what groups contain, and finds the place of a group in a list (docs/design/console.md).
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  type CountGroupContentsRequest,
  CountGroupContentsRequestSchema,
  type CountGroupContentsResponseSchema,
  type FindGroupPositionRequest,
  FindGroupPositionRequestSchema,
  type FindGroupPositionResponseSchema,
  GroupTreeService,
} from "../../gen/gatehouse/iam/v1/group_tree_pb.ts";
import { invalidField } from "../aip/errors.ts";
import { maxPageSize } from "../aip/pagination.ts";
import { accessOf, callerOf } from "../pipeline/authorize.ts";
import type { Call } from "../pipeline/call.ts";
import { allExpensive } from "../pipeline/expensive.ts";
import { type Implementation, implement } from "../pipeline/handlers.ts";
import { plainTextRule, type TextRule, uidRule } from "../pipeline/text-rules.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { findRows } from "../storage/collection/rows.ts";
import { readCountersOf } from "../storage/engine/counters.ts";
import type { Session } from "../storage/engine/session.ts";
import {
  accountAssociationCollection,
  groupCollection,
  identityCollection,
  roleBindingCollection,
} from "../storage/iam/collections.ts";
import { childrenKey } from "../storage/schema/entry-keys.ts";
import { sortPrefix } from "../storage/schema/ordered-text.ts";
import { type GroupContents, readObstacles } from "./iam/groups/group-deletion.ts";
import { collections, listCapabilities } from "./resources.ts";

/** A page of groups can be counted by one call. */
const maxGroups = maxPageSize;

/** The kinds that every list of counts begins with: groups have them nearly always. */
const firstKinds = [groupCollection, identityCollection, roleBindingCollection].map(({ kind }) => kind);

/** The kinds of resources that groups contain, in the order of counts. */
const countedKinds = [...new Set([...firstKinds, ...collections.map(({ kind }) => kind)])].filter((kind) =>
  listCapabilities.has(kind),
);

const kindRule: TextRule = {
  test: (kind) => countedKinds.includes(kind),
  description: `must be one of ${countedKinds.join(", ")}`,
};

/** Serves the data of the tree of groups. */
export function groupTree({ database }: Pick<ServiceContext, "database">): Implementation {
  async function count(
    request: CountGroupContentsRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof CountGroupContentsResponseSchema>> {
    if (request.groupUids.length > maxGroups)
      throw invalidField("group_uids", `must not have more than ${maxGroups} items`);
    const kinds = countedKinds.filter((kind) => request.kinds.length === 0 || request.kinds.includes(kind));
    return await database.read(async (session) => {
      const { countOf, contentsOf } = await readContentsOf(session, request.groupUids);
      const groups = request.groupUids.map(async (uid) => ({
        groupUid: uid,
        counts: kinds.filter((kind) => mayList(call, kind, uid)).map((kind) => countOf(uid, kind)),
        deletionObstacles: request.showDeletionObstacles ? await obstaclesOf(session, uid, contentsOf(uid), call) : [],
      }));
      return { groups: await Promise.all(groups) };
    });
  }

  async function findPosition({
    parent,
    name,
    groupUid,
  }: FindGroupPositionRequest): Promise<MessageInitShape<typeof FindGroupPositionResponseSchema>> {
    // No uid is empty: the place in front of all groups with this name.
    const end = { value: sortPrefix(name.toLowerCase()), uid: groupUid };
    const order = { field: "name", descending: false } as const;
    const place = await database.lists.place(groupCollection, { type: "children", uid: parent }, order, end);
    const isCounted = groupUid !== "" && place.count > 0;
    return { skip: isCounted ? place.count - 1 : place.count, totalCount: BigInt(place.total) };
  }

  return implement(GroupTreeService, allExpensive({ countGroupContents: count, findGroupPosition: findPosition }), [
    {
      schema: CountGroupContentsRequestSchema,
      fields: { group_uids: uidRule, kinds: kindRule },
      bounds: { group_uids: { maxItems: maxGroups } },
    },
    { schema: FindGroupPositionRequestSchema, fields: { name: plainTextRule, group_uid: uidRule } },
  ]);
}

function mayList(call: Call, kind: string, uid: string): boolean {
  const capability = listCapabilities.get(kind);
  return capability !== undefined && accessOf(call).has(capability, uid);
}

/** Reads the contents of groups. */
async function readContentsOf(session: Session, uids: readonly string[]) {
  const [counters, associations] = await Promise.all([
    readCountersOf(session, [...new Set(uids.flatMap((uid) => [uid, childrenKey(uid)]))]),
    findRows(session, accountAssociationCollection, [...new Set(uids)]),
  ]);
  const associated = new Set(associations.map(({ uid }) => uid));
  const contentsOf = (uid: string): GroupContents => ({
    counters: counters.get(uid) ?? new Map(),
    hasAssociation: associated.has(uid),
  });
  const countOf = (uid: string, kind: string) => {
    const below = counters.get(uid)?.get(kind) ?? 0;
    const direct = counters.get(childrenKey(uid))?.get(kind) ?? 0;
    // An association has the uid of its group: counters count it where they count the group.
    const own = associated.has(uid) ? 1 : 0;
    const isAssociation = kind === accountAssociationCollection.kind;
    return {
      kind,
      directCount: BigInt(isAssociation ? own : direct),
      totalCount: BigInt(isAssociation ? below + own : below),
    };
  };
  return { countOf, contentsOf };
}

/**
 * Returns the obstacles to the deletion of a group, if the caller may delete it. An attempt names the kinds anyway; numbers are for
 * callers who may list the kind.
 */
async function obstaclesOf(session: Session, uid: string, known: GroupContents, call: Call) {
  if (!accessOf(call).has(Capability.CAP_IAM_GROUPS_DELETE, uid)) return [];
  const { contents } = await readObstacles(session, uid, callerOf(call).uid, known);
  return countedKinds
    .filter((kind) => contents.has(kind))
    .map((kind) => ({ kind, ...(mayList(call, kind, uid) && { count: BigInt(contents.get(kind)!) }) }));
}
