import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  BatchCreateRoleBindingsRequestSchema,
  ListRoleBindingsRequestSchema,
  type RoleBinding,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { alreadyExists } from "../../../aip/errors.ts";
import { callerOf, requireCapability } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type MessageRules, uidRule } from "../../../pipeline/text-rules.ts";
import { mapUniqueViolation } from "../../../resource/already-exists.ts";
import { requestMask } from "../../../resource/apply-update.ts";
import { type MakeItems, rowsThatFit } from "../../../resource/list-page.ts";
import { defineResource, roleOrders } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { standardMethods } from "../../../resource/standard-methods.ts";
import { deleteRow, findRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { adoptKeys } from "../delegations/makers.ts";
import { groupParents } from "../groups/groups.ts";
import { refuseLastOwner } from "../rules/last-owner.ts";
import { deleteUnnoticed } from "../users/binding-deletion.ts";
import { isKnownAt } from "../users/membership.ts";
import { deleteUnusedPendingUser } from "../users/pending-users.ts";
import { type Hydrated, hydrate } from "./hydration.ts";
import {
  batchItems,
  checkRoleBinding,
  maxBatch,
  requireIdentity,
  requireKeptOwner,
  requireReferences,
} from "./role-binding-rules.ts";

export const roleBinding = defineResource<typeof RoleBindingSchema, RoleBindingRow>({
  schema: RoleBindingSchema,
  plural: "roleBindings",
  collection: roleBindingCollection,
  orderable: roleOrders,
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
  const standard = bindingMethods(context);
  const createAll = bindingCreator(context, standard);
  const { database, clock } = context;
  return implement(
    RoleBindingsService,
    {
      ...bindingReaders(database, standard),
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
            const row = await change(tx, before, standard.changed(before, value!, mask, tx.context.time), call);
            return (await hydrate(tx, [row], call))[0]!;
          }),
        );
      },
      async deleteRoleBinding({ uid }, call) {
        await database.write(writeContext(call, clock), async (tx) => {
          const row = await findRow(tx, roleBindingCollection, uid);
          // Published contract: deleting what does not exist succeeds.
          if (!row) return;
          if (call.ownBinding === uid) return await deleteOwn(tx, row, call);
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

const bindingMethods = (context: ServiceContext) => standardMethods(roleBinding, groupParents, context);

type BindingMethods = ReturnType<typeof bindingMethods>;

function bindingReaders(
  database: ServiceContext["database"],
  standard: BindingMethods,
): Pick<Handlers<typeof RoleBindingsService>, "getRoleBinding" | "listRoleBindings"> {
  return {
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
  };
}

/** Returns the function that creates all bindings of a request, or none. */
function bindingCreator({ database, clock }: ServiceContext, standard: BindingMethods) {
  return async (parent: string, values: readonly RoleBinding[], call: Call) =>
    await mapUniqueViolation(duplicate, () =>
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

/** Stores a changed binding, if the caller may make the new one and the organization keeps an owner. */
async function change(tx: Transaction, before: RoleBindingRow, after: RoleBindingRow, call: Call) {
  await requireReferences(tx, after, before.parent, call);
  if (after.identityUid !== before.identityUid) await requireIdentity(tx, after, before.parent, call);
  await requireKeptOwner(tx, before, after, call);
  const row = await updateRow(tx, roleBindingCollection, before, after);
  await deleteUnusedPendingUser(tx, before.identityUid);
  await adoptKeys(tx, after.identityUid, call);
  return row;
}

/**
 * Deletes a binding of the calling person. Who has not joined the organization does not count as its owner, and the change log does
 * not say who it was.
 */
async function deleteOwn(tx: Transaction, row: RoleBindingRow, call: Call): Promise<void> {
  const { uid } = callerOf(call);
  // The binding may have been given to another identity since the call was allowed.
  if (row.identityUid !== uid) requireCapability(call, Capability.CAP_IAM_ROLE_BINDINGS_DELETE, row.uid);
  const isKnown = await isKnownAt(tx, uid, row.parent);
  if (!isKnown) return await deleteUnnoticed(tx, row);
  await refuseLastOwner(tx, row, call);
  await deleteRow(tx, roleBindingCollection, row);
}

/** Returns the error for a binding that exists already. */
export function duplicate() {
  return alreadyExists(roleBinding.type, "", "the identity has this role at this group");
}
