import { viewerRole } from "../../../authz/built-in-roles.ts";
import { newChild } from "../../../model/uid.ts";
import type { Organization } from "../../../services/iam/bootstrap.ts";
import { newScim } from "../../../services/iam/identity-providers/scim-state.ts";
import { insertAcceptance } from "../../../services/iam/terms/terms.ts";
import { insertRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { externalGroupRoleMappingCollection, identityProviderCollection } from "../../../storage/iam/collections.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";

/** Adds an identity provider with a reserved name, a mapping of one of its groups, and an accepted document. */
export async function insertSampleSignIn(tx: Transaction, { groupUid, ownerUid }: Organization): Promise<void> {
  const { time } = tx.context;
  const provider: IdentityProviderRow = {
    uid: newChild(groupUid),
    parent: groupUid,
    createTime: time,
    updateTime: time,
    name: "example",
    description: "Nobody can sign in with it: its issuer does not exist",
    defaultRole: viewerRole.uid,
    issuer: "https://idp.example.org",
    clientId: "gatehouse",
    clientSecret: null,
    additionalScopes: ["email", "profile"],
    groupsClaim: "groups",
    correlationRule: 0,
    pkceEnabled: true,
    ...newScim(),
  };
  await insertRow(tx, identityProviderCollection, provider);
  await insertRow(tx, externalGroupRoleMappingCollection, {
    uid: newChild(provider.uid),
    parent: provider.uid,
    createTime: time,
    externalGroupId: "engineering",
    roleUid: viewerRole.uid,
    scope: groupUid,
  });
  await insertAcceptance(tx, groupUid, "sfdpa.v1", ownerUid);
}
