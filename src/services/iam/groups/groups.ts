import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  type Group,
  GroupSchema,
  GroupsService,
  type ListGroupsRequest,
  type UpdateGroupRequest,
} from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { invalidField, notFound, permissionDenied } from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { ownerRole } from "../../../authz/built-in-roles.ts";
import { type MaybePromise, mapMaybe } from "../../../base/maybe-promise.ts";
import { noTerm } from "../../../model/grants.ts";
import { isUid, newChild, rootOf, uidEndPattern } from "../../../model/uid.ts";
import { accessOf, callerOf, requireCapability } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { descriptionRule, nameRule, newGroupParentRule, problemOf } from "../../../pipeline/text-rules.ts";
import { type MakeItems, rowsThatFit } from "../../../resource/list-page.ts";
import { tagResponse } from "../../../resource/read-methods.ts";
import { commonOrders, defineResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { type ParentCollection, standardMethods } from "../../../resource/standard-methods.ts";
import { insertRow, keepRow, lockRow } from "../../../storage/collection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import { ReferenceViolation } from "../../../storage/engine/errors.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { groupCollection, roleBindingCollection } from "../../../storage/iam/collections.ts";
import { insertFoundingBinding } from "../../../storage/iam/founding-bindings.ts";
import { isSubgroupIdentity } from "../../../storage/iam/grants.ts";
import { findGroupsEnding, findGroupsNamed } from "../../../storage/iam/group-names.ts";
import type { GroupRow } from "../../../storage/iam/rows.ts";
import { accept, knownAmong } from "../users/membership.ts";
import { isUserUid } from "../users/user-uid.ts";
import { emptyOut, notEmpty } from "./group-deletion.ts";
import { groupLookup } from "./group-lookup.ts";
import { groupMessage, groupMessages, onePerOrganization } from "./group-message.ts";
import { allowedChange, isOperator, refuseTakenName, requireKind, withOperatorFields } from "./group-rules.ts";
import { findOrganizations } from "./organizations.ts";

export const group = defineResource<typeof GroupSchema, GroupRow, "status" | "resourceLimits">({
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
  keep: (tx, uid) => keepRow(tx, groupCollection, uid),
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
    const binding = {
      uid: newChild(row.uid),
      parent: row.uid,
      identityUid: callerOf(call).uid,
      roleUid: ownerRole.uid,
      ...noTerm,
    };
    await insertRow(tx, roleBindingCollection, { ...binding, createTime: tx.context.time });
    // A user needs nobody's authority anyway.
    if (!isUserUid(binding.identityUid)) await insertFoundingBinding(tx, binding.uid);
    await accept(tx, callerOf(call).uid, row.uid);
    return row;
  };
}

/** Serves groups. */
export function groups(context: ServiceContext): Implementation {
  const standard = standardMethods(group, groupParents, context);
  const makeRoot = rootGroupMaker(context);
  const { database } = context;
  const makeItems = groupItems(database);

  async function createRoot(value: Group, call: Call) {
    return groupMessage(await database.write(writeContext(call, context.clock), (tx) => makeRoot(tx, value, call)));
  }

  async function createChild(parent: string, value: Group, call: Call) {
    requireCapability(call, Capability.CAP_IAM_GROUPS_CREATE, parent);
    // Only an organization is verified and has a kind.
    const child: Group = { ...value, verified: false, kind: 0 };
    return await database.write({ ...writeContext(call, context.clock), isIndependent: true }, async (tx) => {
      // Read together with the parent.
      const [organizations, row] = await Promise.all([
        findOrganizations(database, tx, [{ uid: parent }]),
        standard.insert(tx, parent, child, { status: 0, resourceLimits: {} }),
      ]);
      return groupMessage(row, organizations.get(rootOf(parent)));
    });
  }

  async function list(request: ListGroupsRequest, call: Call) {
    const { items, ...envelope } = await standard.page(request, call, { name: request.name }, undefined, makeItems);
    return standard.reply(call, items, envelope);
  }

  async function update({ group: value, updateMask }: UpdateGroupRequest, call: Call): Promise<Group> {
    return await database.write(writeContext(call, context.clock), async (tx) => {
      const row = await standard.change(tx, value!, updateMask, (before, after) =>
        allowedChange(tx, before, after, call),
      );
      return await showGroup(database, tx, row);
    });
  }

  return implement(
    GroupsService,
    {
      getGroup: ({ uid }, call) => getGroup(database, uid, call),
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

/** Returns a group as its message. */
async function showGroup(database: Database, session: Session, row: GroupRow): Promise<Group> {
  return groupMessage(row, (await findOrganizations(database, session, [row])).get(rootOf(row.uid)));
}

/** Returns the function that converts the rows of a list. */
function groupItems(database: Database): MakeItems<GroupRow, Group> {
  return async (session, rows) =>
    groupMessages(rowsThatFit(session, rows), await findOrganizations(database, session, onePerOrganization(rows)));
}

/** Returns a group. Synchronous if the group and its organization are cached. */
function getGroup(database: Database, uid: string, call: Call): MaybePromise<Group> {
  const root = rootOf(uid);
  return mapMaybe(database.rows.findAll(groupCollection, uid === root ? [uid] : [uid, root]), (rows) => {
    const row = rows.find((each) => each.uid === uid);
    if (!row) throw notFound(resourceType(GroupSchema), uid);
    tagResponse(call, groupCollection, row);
    return groupMessage(
      row,
      rows.find((each) => each.uid === root),
    );
  });
}

/**
 * Returns the uid of the named parent. The name is a uid, the last segments of a uid, or the name of a group; empty stays empty. A
 * short form matches only groups that the caller may list, in organizations that the caller has accepted. Throws INVALID_ARGUMENT
 * unless exactly one group matches.
 */
async function resolveParent(session: Session, parent: string, call: Call): Promise<string> {
  if (parent === "" || isUid(parent)) return parent;
  const access = accessOf(call);
  const { uid: callerUid } = callerOf(call);
  const isKnown = await knownAmong(session, [callerUid]);
  const found = new Set<string>();
  if (uidEndPattern.test(parent)) {
    for (const { uid } of await findGroupsEnding(session, parent)) {
      if (access.has(Capability.CAP_IAM_GROUPS_LIST, uid) && isKnown(callerUid, uid)) found.add(uid);
    }
  }
  if (problemOf(nameRule, parent) === undefined) {
    const visible = access.scope([Capability.CAP_IAM_GROUPS_LIST]).filter((uid) => isKnown(callerUid, uid));
    for (const { uid } of await findGroupsNamed(session, parent, visible)) found.add(uid);
  }
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  throw invalidField(
    "parent",
    second === undefined ? newGroupParentRule.description : "matches several groups; give the uid",
  );
}
