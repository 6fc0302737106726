import {
  BatchCreateRoleBindingsRequestSchema,
  ListRoleBindingsRequestSchema,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type MessageRules, uidRule } from "../../../pipeline/text-rules.ts";
import { mapUniqueViolation } from "../../../resource/already-exists.ts";
import { requestMask } from "../../../resource/apply-update.ts";
import { type MakeItems, rowsThatFit } from "../../../resource/list-page.ts";
import { tagResponse } from "../../../resource/read-methods.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { findRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { noteBinding } from "../../../storage/iam/access-usage.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { adoptKeys } from "../delegations/makers.ts";
import { findOpen, hasEnded } from "../users/ended-bindings.ts";
import { deleteUnusedPendingUser } from "../users/pending-users.ts";
import { bindingCreator, duplicate } from "./creation.ts";
import { deleteFor } from "./deletion.ts";
import { type Hydrated, hydrate } from "./hydration.ts";
import { type BindingMethods, bindingMethods, roleBinding } from "./resource.ts";
import { batchItems, maxBatch, requireIdentity, requireKeptOwner, requireReferences } from "./role-binding-rules.ts";

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
  const show = (call: Call) => (tx: Transaction, rows: readonly RoleBindingRow[]) => hydrate(tx, rows, call);
  return implement(
    RoleBindingsService,
    {
      ...bindingReaders(context, standard),
      async createRoleBinding({ parent, roleBinding: value }, call) {
        const showOne = async (tx: Transaction, rows: readonly RoleBindingRow[]) => {
          tagResponse(call, roleBindingCollection, rows[0]!);
          return await hydrate(tx, rows, call);
        };
        return (await createAll({ parent, values: [value!] }, call, showOne))[0]!;
      },
      async batchCreateRoleBindings({ parent, requests, roleUid }, call) {
        const values = batchItems(parent, requests, roleUid);
        return { roleBindings: await createAll({ parent, values }, call, show(call)) };
      },
      async updateRoleBinding({ roleBinding: value, updateMask }, call) {
        const mask = requestMask(RoleBindingSchema, value!, updateMask);
        return await mapUniqueViolation(
          () => duplicate(),
          () =>
            database.write(writeContext(call, clock), async (tx) => {
              const before = await findOpen(tx, value!.uid);
              const row = await change(tx, before, standard.changed(before, value!, mask, tx.context.time), call);
              tagResponse(call, roleBindingCollection, row);
              return (await hydrate(tx, [row], call))[0]!;
            }),
        );
      },
      async deleteRoleBinding({ uid }, call) {
        await database.write(writeContext(call, clock), async (tx) => {
          const row = await findRow(tx, roleBindingCollection, uid);
          // Published contract: deleting what does not exist succeeds.
          if (row && !hasEnded(tx, row)) await deleteFor(tx, row, call);
        });
        return {};
      },
    },
    [...roleBinding.messageRules, listRules, batchRules],
  );
}

function bindingReaders(
  { database }: ServiceContext,
  standard: BindingMethods,
): Pick<Handlers<typeof RoleBindingsService>, "getRoleBinding" | "listRoleBindings"> {
  return {
    async getRoleBinding({ uid }, call) {
      return await database.read(async (session) => {
        const row = await findOpen(session, uid);
        tagResponse(call, roleBindingCollection, row);
        return (await hydrate(session, [row], call))[0]!;
      });
    },
    async listRoleBindings(request, call) {
      const { identity: identityUid, role: roleUid, group: parent } = request;
      const ended = new Set<string>();
      const makeItems: MakeItems<RoleBindingRow, Hydrated> = (session, rows) => {
        for (const row of rows) if (hasEnded(session, row)) ended.add(row.uid);
        return hydrate(session, rowsThatFit(session, rows), call);
      };
      const filters = { identityUid, roleUid, parent };
      const { items: shown, ...envelope } = await standard.page(request, call, filters, undefined, makeItems);
      // A binding that has ended is as good as deleted. The total has it until it is.
      return { ...envelope, roleBindings: shown.filter(({ uid }) => !ended.has(uid!)) };
    },
  };
}

/** Stores a changed binding, if the caller may make the new one and the organization keeps an owner. */
async function change(tx: Transaction, before: RoleBindingRow, after: RoleBindingRow, call: Call) {
  await requireReferences(tx, after, before.parent, call, before);
  if (after.identityUid !== before.identityUid) await requireIdentity(tx, after, before.parent, call);
  await requireKeptOwner(tx, before, after, call);
  const row = await updateRow(tx, roleBindingCollection, before, after);
  if (row.identityUid !== before.identityUid || row.roleUid !== before.roleUid) await noteBinding(tx, row);
  await deleteUnusedPendingUser(tx, before.identityUid);
  await adoptKeys(tx, after.identityUid, call);
  return row;
}
