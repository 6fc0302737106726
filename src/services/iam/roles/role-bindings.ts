import { IdentitySchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import {
  BatchCreateRoleBindingsRequestSchema,
  ListRoleBindingsRequestSchema,
  type RoleBinding,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import {
  alreadyExists,
  type FieldViolation,
  invalidArgument,
  notFound,
  permissionDenied,
} from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { missingTexts, newViolations } from "../../../aip/violations.ts";
import { isBuiltInRole } from "../../../authz/built-in-roles.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type MessageRules, uidRule } from "../../../pipeline/text-rules.ts";
import { mapUniqueViolation } from "../../../resource/already-exists.ts";
import { requestMask } from "../../../resource/apply-update.ts";
import { type MakeItems, rowsThatFit } from "../../../resource/list-page.ts";
import { creationOrders, defineResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { standardMethods } from "../../../resource/standard-methods.ts";
import { deleteRow, findRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { groupCollection, identityCollection, roleBindingCollection } from "../../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { adoptKeys } from "../delegations/makers.ts";
import { groupParents } from "../groups/groups.ts";
import { givesOwner, refuseLastOwner } from "../rules/last-owner.ts";
import { requireUsableRole } from "../rules/usable-role.ts";
import { isKnownAt } from "../users/membership.ts";
import { createPendingUser, deleteUnusedPendingUser } from "../users/pending-users.ts";
import { isUserUid } from "../users/user-uid.ts";
import { type Hydrated, hydrate, isReadable } from "./hydration.ts";

/** The maximum size of a batch (AIP-233). */
const maxBatch = 25;

const roleBinding = defineResource<typeof RoleBindingSchema, RoleBindingRow>({
  schema: RoleBindingSchema,
  plural: "roleBindings",
  collection: roleBindingCollection,
  orderable: { uid: "uid", ...creationOrders },
  rules: {},
  check: checkRoleBinding,
  toMessage: ({ uid, identityUid, roleUid }): RoleBinding => ({
    $typeName: "chainguard.platform.iam.v2beta1.RoleBinding",
    uid,
    identityUid,
    roleUid,
  }),
  toRow: ({ identityUid, roleUid }) => ({ identityUid, roleUid }),
});

/** The rules of the list filters. */
const listRules: MessageRules = {
  schema: ListRoleBindingsRequestSchema,
  fields: { identity: uidRule, role: uidRule, group: uidRule },
};

const batchRules: MessageRules = {
  schema: BatchCreateRoleBindingsRequestSchema,
  fields: {},
  bounds: { requests: { maxItems: maxBatch } },
};

/** Serves role bindings. Responses contain the identity, group and role of each binding. */
export function roleBindings(context: ServiceContext): Implementation {
  const standard = standardMethods(roleBinding, groupParents, context);
  const { database, clock } = context;

  async function createAll(parent: string, values: readonly RoleBinding[], call: Call) {
    return await mapUniqueViolation(duplicate, () =>
      database.write(writeContext(call, clock), async (tx) => {
        const created: RoleBindingRow[] = [];
        for (const value of values) {
          await requireReferences(tx, value, parent, call);
          await requireIdentity(tx, value, parent, call);
          created.push(await standard.insert(tx, parent, value, {}));
          await adoptKeys(tx, value.identityUid, call);
        }
        // The bindings keep what they refer to from being deleted before the transaction ends.
        return await hydrate(tx, created, call);
      }),
    );
  }

  return implement(
    RoleBindingsService,
    {
      async getRoleBinding({ uid }, call) {
        return await database.read(async (session) => {
          const row = await standard.find(session, uid);
          return (await hydrate(session, [row], call))[0]!;
        });
      },
      async listRoleBindings(request, call) {
        const { identity: identityUid, role: roleUid, group: parent } = request;
        const makeItems: MakeItems<RoleBindingRow, Hydrated> = (session, rows) =>
          hydrate(session, rowsThatFit(session, rows), call);
        const filters = { identityUid, roleUid, parent };
        const { items: shown, ...envelope } = await standard.page(request, call, filters, undefined, makeItems);
        return { ...envelope, roleBindings: [...shown] };
      },
      async createRoleBinding({ parent, roleBinding: value }, call) {
        return (await createAll(parent, [value!], call))[0]!;
      },
      async batchCreateRoleBindings({ parent, requests, roleUid }, call) {
        return { roleBindings: await createAll(parent, batchItems(parent, requests, roleUid), call) };
      },
      async updateRoleBinding({ roleBinding: value, updateMask }, call) {
        const mask = requestMask(RoleBindingSchema, value!, updateMask);
        return await mapUniqueViolation(duplicate, () =>
          database.write(writeContext(call, clock), async (tx) => {
            const before = await standard.find(tx, value!.uid);
            const after = standard.changed(before, value!, mask, tx.context.time);
            await requireReferences(tx, after, before.parent, call);
            if (after.identityUid !== before.identityUid) await requireIdentity(tx, after, before.parent, call);
            const isOwned = givesOwner(after) && (await isKnownAt(tx, after.identityUid, after.parent));
            if (!isOwned) await refuseLastOwner(tx, before, call);
            const row = await updateRow(tx, roleBindingCollection, before, after);
            await deleteUnusedPendingUser(tx, before.identityUid);
            await adoptKeys(tx, after.identityUid, call);
            return (await hydrate(tx, [row], call))[0]!;
          }),
        );
      },
      async deleteRoleBinding({ uid }, call) {
        await database.write(writeContext(call, clock), async (tx) => {
          const row = await findRow(tx, roleBindingCollection, uid);
          // Published contract: deleting what does not exist succeeds.
          if (!row) return;
          await refuseLastOwner(tx, row, call);
          await deleteRow(tx, roleBindingCollection, row);
          await deleteUnusedPendingUser(tx, row.identityUid);
        });
        return {};
      },
    },
    [...roleBinding.messageRules, listRules, batchRules],
  );
}

/** Checks that both fields are set. The specification requires them, although the published field annotations call them optional. */
function checkRoleBinding({ identityUid, roleUid }: Pick<RoleBinding, "identityUid" | "roleUid">): FieldViolation[] {
  return missingTexts({ identity_uid: identityUid, role_uid: roleUid });
}

/** Returns the bindings of a batch with their roles. AIP-233: the parent of an item is empty or that of the batch. */
function batchItems(
  parent: string,
  requests: readonly { parent: string; roleBinding?: RoleBinding | undefined }[],
  roleUid: string,
): RoleBinding[] {
  const violations = newViolations();
  if (requests.length > maxBatch) violations.add("requests", `must not have more than ${maxBatch} items`);
  const items = requests.slice(0, maxBatch).flatMap((request, index) => {
    const at = `requests[${index}]`;
    if (request.parent !== "" && request.parent !== parent)
      violations.add(`${at}.parent`, "must be empty or the parent of the batch");
    if (!request.roleBinding) return [];
    const item = { ...request.roleBinding, roleUid: request.roleBinding.roleUid || roleUid };
    if (roleUid !== "" && item.roleUid !== roleUid)
      violations.add(`${at}.role_binding.role_uid`, "must be empty or the role_uid of the batch");
    violations.addAll(
      checkRoleBinding(item).map(({ field, description }) => ({ field: `${at}.role_binding.${field}`, description })),
    );
    return [item];
  });
  violations.throwIfAny();
  return items;
}

/** Throws unless a binding names identity and role, and the caller may use the role in the group. */
async function requireReferences(
  session: Session,
  binding: Pick<RoleBinding, "identityUid" | "roleUid">,
  groupUid: string,
  call: Call,
): Promise<void> {
  const violations = checkRoleBinding(binding);
  if (violations.length > 0) throw invalidArgument(violations);
  await requireUsableRole(session, binding.roleUid, groupUid, call);
}

/**
 * Throws unless the caller may bind the identity in the group. Creates a pending user for the uid of a user who has not signed in
 * yet, which LookupIdentity returns.
 */
async function requireIdentity(
  tx: Transaction,
  { identityUid }: Pick<RoleBinding, "identityUid">,
  groupUid: string,
  call: Call,
): Promise<void> {
  // Security case I7: checked before reading, because the error must not reveal identities of other organizations.
  if (!isReadable({ identityUid, parent: groupUid }, call)) {
    throw permissionDenied(
      `identity ${identityUid} belongs to another organization, in which the caller lacks identity.list`,
      {
        capability: "identity.list",
        scope: identityUid,
      },
    );
  }
  if (await findRow(tx, identityCollection, identityUid)) return;
  if (!(await mayBeUser(tx, identityUid))) throw notFound(resourceType(IdentitySchema), identityUid);
  await createPendingUser(tx, identityUid);
}

// Security case R6: the uid of a group or role must not become that of a user: counters are stored by uid.
async function mayBeUser(tx: Transaction, uid: string): Promise<boolean> {
  return isUserUid(uid) && !isBuiltInRole(uid) && !(await findRow(tx, groupCollection, uid));
}

function duplicate() {
  return alreadyExists(roleBinding.type, "", "the identity has this role at this group");
}
