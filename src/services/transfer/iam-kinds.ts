// How groups, roles, identities, role bindings and account associations are imported.
import { isDeepStrictEqual } from "node:util";
import { create } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  type AccountAssociation,
  AccountAssociationSchema,
} from "../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import { platformRoot } from "../../model/uid.ts";
import { callerOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { findRow } from "../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../storage/engine/session.ts";
import { identityCollection } from "../../storage/iam/collections.ts";
import { findVerifiedRoots } from "../../storage/iam/group-names.ts";
import { findBinding } from "../../storage/iam/role-bindings.ts";
import type { AccountAssociationRow, GroupRow, RoleBindingRow } from "../../storage/iam/rows.ts";
import { accountAssociation, associationMessage } from "../iam/account-associations/account-associations.ts";
import { requireServiceIdentities } from "../iam/account-associations/service-bindings.ts";
import { refuseTakenName } from "../iam/groups/group-rules.ts";
import { group } from "../iam/groups/groups.ts";
import { identityResource } from "../iam/identities/identities.ts";
import { mayBeUser, requireKeptOwner } from "../iam/role-bindings/role-binding-rules.ts";
import { roleBinding } from "../iam/role-bindings/role-bindings.ts";
import { role } from "../iam/roles/roles.ts";
import { refuseUnreachable } from "../iam/rules/last-owner.ts";
import { createPendingUser, deleteUnusedPendingUser } from "../iam/users/pending-users.ts";
import { isUserUid } from "../iam/users/user-uid.ts";
import {
  checkKeepsOperators,
  checkRoleReference,
  inGroup,
  isOperatorIdentity,
  noInternal,
  takenBy,
} from "./import-checks.ts";
import { type ImportKind, missing, type Problem } from "./import-kind.ts";
import { importerOf, problemsIn } from "./import-resource.ts";

/** Imports groups. */
export const groupImporter = importerOf<typeof group.schema, GroupRow>({
  ...inGroup,
  parentOf: (uid) => (uid.includes("/") ? inGroup.parentOf(uid) : undefined),
  resource: { ...group, toMessage: (row) => group.toMessage(row) },
  toRow: (message, own, before, { acceptsVerified }) => ({
    ...group.toRow(message),
    // Only an organization has a kind.
    ...(own.parent !== null && { kind: 0 }),
    verified: before?.verified || (acceptsVerified && own.parent === null && message.verified),
    ...{ status: before?.status ?? 0, resourceLimits: before?.resourceLimits ?? {} },
    ...own,
  }),
  async check(session, after, before) {
    if (before?.verified && after.name !== before.name)
      return [{ field: "name", description: "must stay the same, because the organization is verified" }];
    if (!after.verified) return [];
    if (after.kind === 0) return [{ field: "kind", description: "is required for a verified organization" }];
    const other = (await findVerifiedRoots(session, after.name)).find(({ uid }) => uid !== after.uid);
    return takenBy(other, after.uid, "name", "is the name of a verified organization");
  },
  isIndependent: ({ verified }) => !verified,
  prepare: refuseTakenName,
});

/** Imports roles. */
export const roleImporter = importerOf<typeof role.schema, Parameters<typeof role.toMessage>[0]>({
  ...inGroup,
  resource: role,
  isIndependent: () => true,
  toRow: (message, own) => ({ ...role.toRow(message), ...own }),
  async check(session, { capabilities }, before) {
    if (capabilities.includes(Capability.CAP_INTERNAL)) return [{ field: "capabilities", description: noInternal }];
    return before ? await checkKeepsOperators(session, before.uid, "capabilities") : [];
  },
});

/** Returns the importer of identities. */
export function identityImporter(context: ServiceContext) {
  const identity = identityResource(context);
  return importerOf({
    ...inGroup,
    resource: identity,
    isIndependent: () => true,
    toRow: (message, own, before) => ({
      ...identity.toRow(message),
      // Only sign-ins of users set these, and users belong to no organization.
      ...{
        email: before?.email ?? "",
        emailUnverified: before?.emailUnverified ?? "",
        metadata: before?.metadata ?? {},
      },
      lastSeenTime:
        before?.lastSeenTime ?? (message.lastSeenTime ? fromTimestamp(message.lastSeenTime) : own.createTime),
      ...own,
    }),
    async check(session, after, before) {
      const isSame = !before || isDeepStrictEqual(before.relationship, after.relationship);
      if (isSame || !(await isOperatorIdentity(session, after.uid))) return [];
      return [
        { field: "uid", description: "is an identity of an operator here, which an import gives no other credentials" },
      ];
    },
    async prepare(tx, after, before, call) {
      if (before && !isDeepStrictEqual(before.relationship, after.relationship))
        await refuseUnreachable(tx, after, callerOf(call).uid === after.uid, call);
    },
  } satisfies ImportKind<typeof identity.schema, Parameters<typeof identity.toMessage>[0]>);
}

/** Imports role bindings. */
export const roleBindingImporter = importerOf<typeof roleBinding.schema, RoleBindingRow>({
  ...inGroup,
  resource: roleBinding,
  // The binding of a user may create a pending user.
  isIndependent: ({ identityUid }) => !isUserUid(identityUid),
  toRow: (message, { uid, parent, createTime }) => ({
    ...roleBinding.toRow(message),
    uid,
    parent: parent!,
    createTime,
  }),
  references: ({ identityUid, roleUid }) => [identityUid, roleUid],
  check: checkBinding,
  prepare: prepareBinding,
  finish: (tx, { identityUid }) => deleteUnusedPendingUser(tx, identityUid),
});

async function checkBinding(
  session: Session,
  after: RoleBindingRow,
  before: RoleBindingRow | undefined,
): Promise<readonly Problem[]> {
  const { uid, parent, identityUid, roleUid } = after;
  const problems = [...(await checkRoleReference(session, roleUid, parent, "role_uid"))];
  if (before) problems.push(...(await checkKeepsOperators(session, before.roleUid, "uid")));
  if (!(await findRow(session, identityCollection, identityUid)) && !(await mayBeUser(session, identityUid)))
    problems.push(missing("identity_uid", "an identity", identityUid));
  const same = await findBinding(session, parent, roleUid, identityUid);
  return [...problems, ...takenBy(same, uid, "identity_uid", "has this role at this group by another role binding")];
}

async function prepareBinding(
  tx: Transaction,
  after: RoleBindingRow,
  before: RoleBindingRow | undefined,
  call: Call,
): Promise<void> {
  if (before) await requireKeptOwner(tx, before, after, call);
  // A user who has not signed in here.
  if (!(await findRow(tx, identityCollection, after.identityUid))) await createPendingUser(tx, after.identityUid);
}

/** Imports account associations. */
export const accountAssociationImporter = importerOf<typeof AccountAssociationSchema, AccountAssociationRow>({
  ...inGroup,
  parentOf: (uid) => uid,
  resource: accountAssociation,
  isIndependent: () => true,
  toRow: (message, own) => ({ ...accountAssociation.toRow(message), ...own }),
  references: (message) => serviceIdentities(message),
  check: checkServices,
});

async function checkServices(
  session: Session,
  after: AccountAssociationRow,
  before: AccountAssociationRow | undefined,
): Promise<readonly Problem[]> {
  const messageOf = (row: AccountAssociationRow) => create(AccountAssociationSchema, associationMessage(row));
  const value = messageOf(after);
  for (const uid of serviceIdentities(value)) {
    if (!(await findRow(session, identityCollection, uid)))
      return [missing("chainguard.service_bindings", "an identity", uid)];
  }
  try {
    await requireServiceIdentities(session, value, after.uid, before && messageOf(before));
    return [];
  } catch (error) {
    return problemsIn(error);
  }
}

function serviceIdentities({ chainguard }: AccountAssociation): string[] {
  return Object.values(chainguard?.serviceBindings ?? {}).filter((uid) => uid !== platformRoot);
}
