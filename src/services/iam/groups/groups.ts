import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  type GetGroupRequest,
  type Group,
  GroupSchema,
  GroupsService,
  type ListGroupsRequest,
  type UpdateGroupRequest,
} from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { alreadyExists, failedPrecondition, invalidField, notFound, permissionDenied } from "../../../aip/errors.ts";
import { ownerRole } from "../../../authz/built-in-roles.ts";
import { type MaybePromise, mapMaybe } from "../../../base/maybe-promise.ts";
import { newChild, rootOf } from "../../../model/uid.ts";
import { accessOf, callerOf, requireCapability } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { descriptionRule, nameRule } from "../../../pipeline/text-rules.ts";
import { type MakeItems, rowsThatFit } from "../../../resource/list-page.ts";
import { commonOrders, defineResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { type ParentCollection, standardMethods } from "../../../resource/standard-methods.ts";
import { deleteRow, findRow, insertRow, lockRow } from "../../../storage/collection/rows.ts";
import { readCounters } from "../../../storage/engine/counters.ts";
import { ReferenceViolation } from "../../../storage/engine/errors.ts";
import { clearExportState } from "../../../storage/engine/export-states.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { writeSetting } from "../../../storage/engine/settings.ts";
import {
  accountAssociationCollection,
  groupCollection,
  roleBindingCollection,
  termsAcceptanceCollection,
} from "../../../storage/iam/collections.ts";
import { isSubgroupIdentity } from "../../../storage/iam/grants.ts";
import { findVerifiedRoots } from "../../../storage/iam/group-names.ts";
import { findAcceptancesOf } from "../../../storage/iam/providers.ts";
import { findBindingsUnder } from "../../../storage/iam/role-bindings.ts";
import type { GroupRow } from "../../../storage/iam/rows.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import { clearDeletedAdvisories } from "../../../storage/vulnerabilities/advisories.ts";
import { clearRecords } from "../../../storage/vulnerabilities/records.ts";
import { accept } from "../users/membership.ts";
import { groupLookup } from "./group-lookup.ts";
import { groupMessage, groupMessages, onePerOrganization } from "./group-message.ts";
import { resolveParent } from "./group-parent.ts";
import { findOrganizations } from "./organizations.ts";

const group = defineResource<typeof GroupSchema, GroupRow, "status" | "resourceLimits">({
  schema: GroupSchema,
  plural: "groups",
  collection: groupCollection,
  orderable: commonOrders,
  includesGranted: true,
  rules: { name: nameRule, description: descriptionRule },
  toMessage: groupMessage,
  toRow: ({ name, description, verified, kind }) => ({ name, description, verified, kind }),
});

/** Groups as the parents of other resources. */
export const groupParents: ParentCollection = {
  type: group.type,
  lock: (tx, uid) => lockRow(tx, groupCollection, uid),
};

/** Makes the function that inserts a root group in a transaction and binds the owner role to the caller. It checks permissions. */
export function rootGroupMaker(context: ServiceContext) {
  const standard = standardMethods(group, groupParents, context);
  return async (tx: Transaction, value: Group, call: Call): Promise<GroupRow> => {
    if (!accessOf(call).isUnscoped)
      throw permissionDenied("a token that is narrowed to groups cannot create a root group; use one that is not");
    if (isSubgroupIdentity(callerOf(call).uid))
      throw permissionDenied(
        "an identity of a subgroup cannot create a root group; use an identity of the organization",
      );
    if (context.settings.rootGroups === "operators" && !isOperator(call))
      throw permissionDenied("only operators may create root groups");
    const allowed = withOperatorFields(call, value);
    requireKind(allowed);
    const row = await standard.insert(tx, "", allowed, { status: 0, resourceLimits: {} });
    await refuseTakenName(tx, row);
    await insertRow(tx, roleBindingCollection, {
      uid: newChild(row.uid),
      parent: row.uid,
      identityUid: callerOf(call).uid,
      roleUid: ownerRole.uid,
      createTime: tx.context.time,
    });
    await accept(tx, callerOf(call).uid, row.uid);
    return row;
  };
}

/** Serves groups. */
export function groups(context: ServiceContext): Implementation {
  const standard = standardMethods(group, groupParents, context);
  const makeRoot = rootGroupMaker(context);
  const { database } = context;

  async function createRoot(value: Group, call: Call) {
    return groupMessage(await database.write(writeContext(call, context.clock), (tx) => makeRoot(tx, value, call)));
  }

  async function createChild(parent: string, value: Group, call: Call) {
    requireCapability(call, Capability.CAP_IAM_GROUPS_CREATE, parent);
    // Only an organization is verified and has a kind.
    const child: Group = { ...value, verified: false, kind: 0 };
    return await database.write(writeContext(call, context.clock), async (tx) =>
      show(tx, await standard.insert(tx, parent, child, { status: 0, resourceLimits: {} })),
    );
  }

  async function show(session: Session, row: GroupRow): Promise<Group> {
    return groupMessage(row, (await findOrganizations(database, session, [row])).get(rootOf(row.uid)));
  }

  /** Synchronous if the group and its organization are cached. */
  function get({ uid }: GetGroupRequest): MaybePromise<Group> {
    const root = rootOf(uid);
    return mapMaybe(database.rows.findAll(groupCollection, uid === root ? [uid] : [uid, root]), (rows) => {
      const row = rows.find((each) => each.uid === uid);
      if (!row) throw notFound(group.type, uid);
      return groupMessage(
        row,
        rows.find((each) => each.uid === root),
      );
    });
  }

  async function list(request: ListGroupsRequest, call: Call) {
    const makeItems: MakeItems<GroupRow, Group> = async (session, rows) =>
      groupMessages(rowsThatFit(session, rows), await findOrganizations(database, session, onePerOrganization(rows)));
    const { items, ...envelope } = await standard.page(request, call, { name: request.name }, undefined, makeItems);
    return standard.reply(call, items, envelope);
  }

  async function update({ group: value, updateMask }: UpdateGroupRequest, call: Call): Promise<Group> {
    return await database.write(writeContext(call, context.clock), async (tx) => {
      const row = await standard.change(tx, value!, updateMask, (before, after) =>
        allowedChange(tx, before, after, call),
      );
      return await show(tx, row);
    });
  }

  return implement(
    GroupsService,
    {
      getGroup: get,
      listGroups: list,
      createGroup: async ({ parent, group: value }, call) => {
        const uid = await resolveParent(database.session, parent, call);
        return uid === "" ? await createRoot(value!, call) : await createChild(uid, value!, call);
      },
      updateGroup: update,
      deleteGroup: async (request, call) => {
        try {
          return await standard.delete(request, call, (tx, row) => emptyOut(tx, row, callerOf(call).uid));
        } catch (error) {
          // A concurrent call created a child first.
          if (error instanceof ReferenceViolation) throw notEmpty(request.uid, ["resources"]);
          throw error;
        }
      },
      ...groupLookup(context),
    },
    group.messageRules,
  );
}

/** Returns the row to store: fields that the caller may not change keep their values. */
async function allowedChange(tx: Transaction, before: GroupRow, asked: GroupRow, call: Call): Promise<GroupRow> {
  // Only operators change these, and only of organizations.
  const mayChange = isOperator(call) && before.parent === null;
  const after = mayChange ? asked : { ...asked, verified: before.verified, kind: before.kind };
  if (before.verified && after.name !== before.name) {
    throw failedPrecondition("VERIFIED_NAME", "a verified organization cannot be renamed", before.uid);
  }
  // An update does not have to fix earlier violations.
  if (after.verified !== before.verified || after.kind !== before.kind) requireKind(after);
  if (after.verified !== before.verified) await refuseTakenName(tx, after);
  return after;
}

/** Throws unless the group is empty. Deletes what ends with it: acceptances, and the caller's own owner binding of a root group. */
async function emptyOut(tx: Transaction, row: GroupRow, callerUid: string): Promise<void> {
  const contents = await readCounters(tx, row.uid);
  await deleteAcceptances(tx, row.uid);
  contents.delete(termsAcceptanceCollection.kind);
  // The association has the uid of the group, so the counters of the children do not include it.
  const association = await findRow(tx, accountAssociationCollection, row.uid);
  if (association) contents.set(accountAssociationCollection.kind, 1);
  if (row.parent === null && contents.size === 1 && contents.get(roleBindingCollection.kind) === 1) {
    const [binding] = await findBindingsUnder(tx, row.uid, 1);
    if (binding?.identityUid === callerUid && binding.roleUid === ownerRole.uid) {
      await deleteRow(tx, roleBindingCollection, binding);
      contents.clear();
    }
  }
  if (contents.size > 0) throw notEmpty(row.uid, [...contents.keys()].sort());
  // The exports of ancestors contain withdrawn records.
  if ((await clearRecords(tx, row.uid)) && row.parent !== null) tx.changeExports(row.parent);
  await clearDeletedAdvisories(tx, row.uid);
  await clearExportState(tx, row.uid);
}

/** Deletes the acceptances of terms, which end with the group. The change log keeps them. */
async function deleteAcceptances(tx: Transaction, groupUid: string): Promise<void> {
  for (const row of await findAcceptancesOf(tx, groupUid)) await deleteRow(tx, termsAcceptanceCollection, row);
}

function notEmpty(uid: string, kinds: readonly string[]) {
  // The specification fixes this text for repos, also if the group contains other resources. Tags are not children of the group.
  const named = kinds.includes(repoCollection.kind) ? [repoCollection.kind] : kinds;
  const names = named.map((kind) => kind.replaceAll("_", " ")).join(", ");
  return failedPrecondition("RESOURCE_NOT_EMPTY", `cannot delete group with child ${names}`, uid);
}

/** Whether the caller is an operator of the installation. */
function isOperator(call: Call): boolean {
  return accessOf(call).scope([Capability.CAP_INTERNAL]).length > 0;
}

/** Clears the fields that only operators may set, for any other caller. */
function withOperatorFields(call: Call, value: Group): Group {
  return isOperator(call) ? value : { ...value, verified: false, kind: 0 };
}

/** Throws if a verified organization has no kind. */
function requireKind({ verified, kind }: Pick<GroupRow, "verified" | "kind">): void {
  if (verified && kind === 0) throw invalidField("kind", "is required for a verified organization");
}

/** Throws if another verified organization has the name. */
async function refuseTakenName(tx: Transaction, row: GroupRow): Promise<void> {
  if (!row.verified || row.parent !== null) return;
  // Serializes concurrent verifications of one name: both write this row, so the second waits for the first.
  await writeSetting(tx, "latest_verified_name", row.name);
  const same = await findVerifiedRoots(tx, row.name);
  if (same.some((other) => other.uid !== row.uid))
    throw alreadyExists(group.type, row.name, `a verified organization named ${row.name}`);
}
