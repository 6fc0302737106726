// Groups (RFC 7643 §4.2): external group role mappings give roles to their members.

import { newChild } from "../model/uid.ts";
import { scimGroupKind } from "../services/iam/provisioning/views.ts";
import { UniqueViolation } from "../storage/engine/errors.ts";
import type { Session, Transaction } from "../storage/engine/session.ts";
import {
  addScimMembers,
  countScimGroups,
  countScimMembers,
  deleteScimGroup,
  findExistingScimUsers,
  findScimGroup,
  findScimMembersAmong,
  findScimMemberships,
  findScimMemberUids,
  insertScimGroup,
  listScimGroups,
  removeScimMembers,
  type ScimGroupRow,
  updateScimGroup,
} from "../storage/iam/scim-groups.ts";
import type { EndpointResponse } from "../transport/pages/endpoints.ts";
import { type GroupChange, type MemberChange, patchGroup, readGroup } from "./group-change.ts";
import { scimLimits } from "./limits.ts";
import { listResources } from "./list.ts";
import { readOperations } from "./patch.ts";
import {
  noContent,
  type ResourceHandlers,
  readProjection,
  readResource,
  requireMatch,
  resourceResponse,
  type ScimRequest,
  uidOf,
} from "./request.ts";
import { groupJson, isSent } from "./resource-json.ts";
import { groupSchema } from "./schemas.ts";
import { resourceNotFound, scimError } from "./scim-error.ts";

/** The users that a request adds to a group and removes from it. */
interface Movement {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** The methods of groups. */
export const groups: ResourceHandlers = {
  list: (request, range) =>
    listResources(request, range, {
      columns: ["uid", "displayNameKey", "externalId", "updateTime"],
      list: listScimGroups,
      count: countScimGroups,
      memberships: { attribute: "members", column: "groupUid" },
      show: groupJson,
    }),

  get: async (request, id) => await respond(request, 200, await requireGroup(request.session, request, id)),

  async create(request) {
    const change = readGroup(readResource(request, groupSchema.id));
    const row = await writeGroup(request, async (tx) => {
      const counted = { providerUid: request.provider.uid, condition: undefined };
      if ((await countScimGroups(tx, counted)) >= scimLimits.groups)
        throw scimError("tooMany", `an identity provider must not have more than ${scimLimits.groups} groups`);
      const created = rowOf(tx, request, undefined, change);
      await insertScimGroup(tx, created);
      const movement = await applyMembers(tx, request, created, change.members);
      log(tx, request, undefined, created, movement);
      return created;
    });
    return await respond(request, 201, row);
  },

  async replace(request, id) {
    const change = readGroup(readResource(request, groupSchema.id));
    return await respond(request, 200, await update(request, id, change));
  },

  async patch(request, id) {
    const row = await update(request, id, patchGroup(readOperations(request.json())));
    // RFC 7644 §3.5.2 allows a response without content, and a large group would be sent for every new member.
    const isLarge = (await countScimMembers(request.session, row.uid)) > scimLimits.membersOfPatch;
    return isLarge && isSent(readProjection(request), "members") ? noContent : await respond(request, 200, row);
  },

  async remove(request, id) {
    await request.write(async (tx) => {
      const before = await requireGroup(tx, request, id);
      requireMatch(request, before);
      await deleteScimGroup(tx, before);
      log(tx, request, before, undefined);
    });
    return noContent;
  },
};

async function update(request: ScimRequest, id: string, change: GroupChange): Promise<ScimGroupRow> {
  return await writeGroup(request, async (tx) => {
    const before = await requireGroup(tx, request, id);
    requireMatch(request, before);
    const after = rowOf(tx, request, before, change);
    const movement = await applyMembers(tx, request, before, change.members);
    const isMoved = movement.added.length + movement.removed.length > 0;
    if (!isMoved && after.displayName === before.displayName && after.externalId === before.externalId) return before;
    await updateScimGroup(tx, before, after);
    log(tx, request, before, after, movement);
    return after;
  });
}

async function writeGroup<T>(request: ScimRequest, body: (tx: Transaction) => Promise<T>): Promise<T> {
  try {
    return await request.write(body);
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    throw scimError("uniqueness", "another group of the identity provider has this externalId");
  }
}

function rowOf(
  { context: { time } }: Transaction,
  { provider }: ScimRequest,
  before: ScimGroupRow | undefined,
  change: GroupChange,
): ScimGroupRow {
  const displayName = change.displayName ?? before?.displayName;
  if (displayName === undefined) throw scimError("invalidValue", "displayName: is required");
  const externalId = change.externalId === undefined ? (before?.externalId ?? null) : change.externalId;
  return {
    uid: before?.uid ?? newChild(provider.uid),
    providerUid: provider.uid,
    displayName,
    displayNameKey: displayName.toLowerCase(),
    externalId: externalId || null,
    version: (before?.version ?? 0) + 1,
    createTime: before?.createTime ?? time,
    updateTime: Math.max(time, before?.updateTime ?? 0),
  };
}

/** Adds and removes members. Returns the users whose membership changed. */
async function applyMembers(
  tx: Transaction,
  request: ScimRequest,
  { uid }: ScimGroupRow,
  change: MemberChange,
): Promise<Movement> {
  const [wanted, unwanted] = [change.added, change.removed].map((ids) => [...ids].map((id) => uidOf(request, id)));
  const named = [...wanted!, ...unwanted!];
  const members = new Set(
    change.isReplaced ? await findScimMemberUids(tx, uid) : await findScimMembersAmong(tx, uid, named),
  );
  const unknown = wanted!.filter((each) => !members.has(each));
  // A user who was deleted meanwhile must not fail the whole group (docs/design/sign-in.md).
  const existing = await findExistingScimUsers(tx, unknown);
  const added = unknown.filter((each) => existing.has(each));
  const kept = new Set(wanted);
  const removed = change.isReplaced
    ? [...members].filter((each) => !kept.has(each))
    : unwanted!.filter((each) => members.has(each));
  await removeScimMembers(tx, uid, removed);
  await addScimMembers(tx, uid, added);
  if (added.length > 0 && (await countScimMembers(tx, uid)) > scimLimits.membersOfGroup)
    throw scimError("tooMany", `members: must not be more than ${scimLimits.membersOfGroup}`);
  return { added, removed };
}

function log(
  tx: Transaction,
  { provider }: ScimRequest,
  before: ScimGroupRow | undefined,
  after: ScimGroupRow | undefined,
  movement: Movement = { added: [], removed: [] },
): void {
  // Groups give roles by mappings, also by their names.
  tx.changeAccess();
  const { uid } = (after ?? before)!;
  const entry = { kind: scimGroupKind, uid, groupUid: provider.parent, before: logged(before) };
  tx.logChange({ ...entry, after: after ? { ...logged(after), ...loggedMembers(movement) } : null });
}

function logged(row: ScimGroupRow | undefined): object | null {
  if (!row) return null;
  const { uid, displayName, externalId } = row;
  return { uid, displayName, externalId: externalId ?? undefined };
}

function loggedMembers({ added, removed }: Movement): object {
  const some = (uids: readonly string[]) => uids.slice(0, scimLimits.loggedMembers);
  return {
    ...(added.length > 0 && { addedMembers: some(added), addedMemberCount: added.length }),
    ...(removed.length > 0 && { removedMembers: some(removed), removedMemberCount: removed.length }),
  };
}

async function requireGroup(session: Session, request: ScimRequest, id: string): Promise<ScimGroupRow> {
  const row = await findScimGroup(session, uidOf(request, id));
  if (!row) throw resourceNotFound(id);
  return row;
}

async function respond(request: ScimRequest, status: number, row: ScimGroupRow): Promise<EndpointResponse> {
  const { session, endpoint } = request;
  const isShown = isSent(readProjection(request), "members");
  const members = isShown ? await findScimMemberships(session, "groupUid", [row.uid], scimLimits.membersOfGroup) : [];
  return resourceResponse(request, status, row, groupJson(row, members, endpoint));
}
