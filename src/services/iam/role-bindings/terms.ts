import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { RoleBindingSchema } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import {
  CreateRoleBindingTermRequestSchema,
  EndRoleBindingTermRequestSchema,
  ListRoleBindingTermsRequestSchema,
  RoleBindingTermSchema,
  RoleBindingTermState,
  RoleBindingTermsService,
} from "../../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { notFound } from "../../../aip/errors.ts";
import { fromTimestamp, toTimestamp } from "../../../aip/timestamps.ts";
import { hasTerm, noTerm } from "../../../model/grants.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type MessageRules, uidRule } from "../../../pipeline/text-rules.ts";
import { requestMask } from "../../../resource/apply-update.ts";
import { type MakeItems, rowsThatFit } from "../../../resource/list-page.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { updateRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { type TermFilter, termCondition } from "../../../storage/iam/terms.ts";
import { adoptKeys } from "../delegations/makers.ts";
import { findOpen } from "../users/ended-bindings.ts";
import { bindingCreator } from "./creation.ts";
import { deleteFor } from "./deletion.ts";
import { bindingMethods, roleBinding } from "./resource.ts";
import { requireKeptOwner, requireReferences } from "./role-binding-rules.ts";
import { isLonger, requestedTerm, requireServersWithTerms, requireTerm } from "./term-rules.ts";
import { termStateAt } from "./term-state.ts";

type Shown = MessageInitShape<typeof RoleBindingTermSchema>;

const textRules: readonly MessageRules[] = [
  { schema: CreateRoleBindingTermRequestSchema, fields: { parent: uidRule } },
  { schema: EndRoleBindingTermRequestSchema, fields: { uid: uidRule } },
  { schema: ListRoleBindingTermsRequestSchema, fields: { identity: uidRule } },
  { schema: RoleBindingTermSchema, fields: { identityUid: uidRule, roleUid: uidRule } },
];

/** Serves the terms of role bindings. */
export function roleBindingTerms(context: ServiceContext): Implementation {
  const standard = bindingMethods(context);
  const createAll = bindingCreator(context, standard);
  const { database, clock } = context;
  return implement(
    RoleBindingTermsService,
    {
      async createRoleBindingTerm({ parent, term: value }, call) {
        const { identityUid, roleUid } = value!;
        const now = database.session.termTime();
        const term = requestedTerm(value!, { isFull: true, paths: [] }, noTerm, now);
        requireTerm(term);
        const values = [create(RoleBindingSchema, { identityUid, roleUid })];
        return await createAll({ parent, values, term }, call, async (tx, rows) => {
          await requireServersWithTerms(tx);
          return show(tx, rows[0]!);
        });
      },

      async updateRoleBindingTerm({ term: value, updateMask }, call) {
        const mask = requestMask(RoleBindingTermSchema, value!, updateMask);
        return await database.write(writeContext(call, clock), async (tx) => {
          const before = await findOpen(tx, value!.uid);
          const after = { ...before, ...requestedTerm(value!, mask, before, tx.termTime()) };
          return show(tx, await changeTerm(tx, before, after, call));
        });
      },

      async endRoleBindingTerm({ uid }, call) {
        return await database.write(writeContext(call, clock), async (tx) => {
          const row = await findOpen(tx, uid);
          if (!hasTerm(row)) throw notFound(roleBinding.type, `${uid} with a term`);
          await deleteFor(tx, row, call);
          return show(tx, { ...row, expireTime: Math.min(row.expireTime ?? tx.termTime(), tx.termTime()) });
        });
      },

      async listRoleBindingTerms(request, call) {
        const condition = termCondition({
          now: database.session.termTime(),
          endsBefore: request.expiresBefore && fromTimestamp(request.expiresBefore),
          state: stateNames[request.state],
        });
        const makeItems: MakeItems<RoleBindingRow, Shown> = (session, rows) =>
          rowsThatFit(session, rows).map((row) => show(session, row));
        const filters = { identityUid: request.identity };
        const { items, ...envelope } = await standard.page(request, call, filters, condition, makeItems);
        return { ...envelope, terms: [...items] };
      },
    },
    textRules,
  );
}

const stateNames: Readonly<Record<number, TermFilter["state"]>> = {
  [RoleBindingTermState.SCHEDULED]: "scheduled",
  [RoleBindingTermState.ACTIVE]: "active",
  [RoleBindingTermState.ENDED]: "ended",
};

/** Stores a changed term, if the caller may give what becomes longer, and the organization keeps an owner. */
async function changeTerm(tx: Transaction, before: RoleBindingRow, after: RoleBindingRow, call: Call) {
  if (isLonger(before, after)) await requireReferences(tx, after, before.parent, call, after);
  if (hasTerm(after)) await requireServersWithTerms(tx);
  await requireKeptOwner(tx, before, after, call);
  const row = await updateRow(tx, roleBindingCollection, before, after);
  await adoptKeys(tx, after.identityUid, call);
  return row;
}

/** Shows the term of a binding. */
function show(
  { termTime }: Session,
  { uid, identityUid, roleUid, parent, startTime, expireTime }: RoleBindingRow,
): Shown {
  return {
    uid,
    identityUid,
    roleUid,
    groupUid: parent,
    ...(startTime !== null && { startTime: toTimestamp(startTime) }),
    ...(expireTime !== null && { expireTime: toTimestamp(expireTime) }),
    state: termStateAt({ startTime, expireTime }, termTime()),
  };
}
