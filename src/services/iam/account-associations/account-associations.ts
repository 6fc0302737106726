import { create, fromJson, type JsonObject, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import {
  type AccountAssociation,
  AccountAssociationSchema,
  AccountAssociationsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { alreadyExists, notFound } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { parentOf, platformRoot } from "../../../model/uid.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { descriptionRule, nameRule } from "../../../pipeline/text-rules.ts";
import { mapUniqueViolation } from "../../../resource/already-exists.ts";
import { tagResponse } from "../../../resource/read-methods.ts";
import { commonOrders, defineResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { standardMethods } from "../../../resource/standard-methods.ts";
import { deleteRow, findRow, insertRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { accountAssociationCollection, groupCollection } from "../../../storage/iam/collections.ts";
import type { AccountAssociationRow } from "../../../storage/iam/rows.ts";
import { groupParents } from "../groups/groups.ts";
import { type CredentialExchange, checkReadiness, requireProvider } from "./account-check.ts";
import { accountRules, checkAccounts } from "./account-rules.ts";
import { requireServiceIdentities } from "./service-bindings.ts";

export const accountAssociation = defineResource<typeof AccountAssociationSchema, AccountAssociationRow>({
  schema: AccountAssociationSchema,
  plural: "accountAssociations",
  collection: accountAssociationCollection,
  orderable: { group: "uid", ...commonOrders },
  // An association has the uid of its group, and access is granted to groups.
  includesGranted: true,
  rules: { name: nameRule, description: descriptionRule },
  parts: accountRules,
  check: checkAccounts,
  toMessage: associationMessage,
  toRow: (value) => ({ name: value.name, description: value.description, accounts: storedAccounts(value) }),
});

/** Serves account associations. Without `exchange`, no account is ever ready. */
export function accountAssociations(context: ServiceContext, exchange?: CredentialExchange): Implementation {
  const standard = standardMethods(accountAssociation, groupParents, context);
  const { database, clock } = context;

  return implement(
    AccountAssociationsService,
    {
      getAccountAssociation: standard.get,
      listAccountAssociations: (request, call) => standard.list(request, call, { name: request.name }),
      async createAccountAssociation({ parent, accountAssociation: value }, call) {
        const exists = () =>
          alreadyExists(accountAssociation.type, parent, "the group has an account association; update that one");
        const row = await mapUniqueViolation(exists, () =>
          database.write(writeContext(call, clock), (tx) => insert(tx, parent, value!)),
        );
        tagResponse(call, accountAssociationCollection, row);
        return associationMessage(row);
      },
      updateAccountAssociation: (request, call) =>
        standard.update(request.accountAssociation!, request.updateMask, call, async (tx, before, after) => {
          await requireNewServiceIdentities(tx, before, after);
          return after;
        }),
      async deleteAccountAssociation({ uid }, call) {
        await database.write(writeContext(call, clock), async (tx) => {
          const row = await findRow(tx, accountAssociationCollection, uid);
          // Published contract: deleting what does not exist succeeds.
          if (row) await deleteRow(tx, accountAssociationCollection, row);
        });
        return {};
      },
      async checkAccountAssociation({ uid, providerType }) {
        requireProvider(providerType);
        const [group, row] = await database.read(async (session) => [
          await findRow(session, groupCollection, uid),
          await findRow(session, accountAssociationCollection, uid),
        ]);
        if (!group) throw notFound(groupParents.type, uid);
        return await checkReadiness(providerType, row && standard.message(row), exchange);
      },
    },
    accountAssociation.messageRules,
  );
}

async function insert(tx: Transaction, groupUid: string, value: AccountAssociation): Promise<AccountAssociationRow> {
  if (!(await groupParents.lock(tx, groupUid))) throw notFound(groupParents.type, groupUid);
  await requireServiceIdentities(tx, value, groupUid);
  const { time } = tx.context;
  const above = parentOf(groupUid);
  const parent = above === platformRoot ? null : above;
  const row = { ...accountAssociation.toRow(value), uid: groupUid, parent, createTime: time, updateTime: time };
  await insertRow(tx, accountAssociationCollection, row);
  return row;
}

/** An update does not have to fix earlier violations, such as an identity that was deleted since. */
async function requireNewServiceIdentities(
  tx: Transaction,
  before: AccountAssociationRow,
  after: AccountAssociationRow,
) {
  const known = create(AccountAssociationSchema, associationMessage(before));
  await requireServiceIdentities(tx, create(AccountAssociationSchema, associationMessage(after)), after.uid, known);
}

/** Converts a stored association to its message. */
export function associationMessage(row: AccountAssociationRow): MessageInitShape<typeof AccountAssociationSchema> {
  const { amazon, google, azure, chainguard, github } = fromJson(AccountAssociationSchema, row.accounts as JsonValue);
  return {
    uid: row.uid,
    name: row.name,
    description: row.description,
    ...(amazon && { amazon }),
    ...(google && { google }),
    ...(azure && { azure }),
    ...(chainguard && { chainguard }),
    ...(github && { github }),
    createTime: toTimestamp(row.createTime),
    updateTime: toTimestamp(row.updateTime),
  };
}

function storedAccounts(value: AccountAssociation): JsonObject {
  const accounts = { ...value, uid: "", name: "", description: "", createTime: undefined, updateTime: undefined };
  return toJson(AccountAssociationSchema, accounts as AccountAssociation) as JsonObject;
}
