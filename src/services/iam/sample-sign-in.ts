import { viewerRole } from "../../authz/built-in-roles.ts";
import { insertRow } from "../../storage/collection.ts";
import type { Transaction } from "../../storage/session.ts";
import { newChild } from "../../uid.ts";
import type { Organization } from "./first-owner.ts";
import {
  externalGroupRoleMappingCollection,
  type IdentityProviderRow,
  identityProviderCollection,
} from "./provider-rows.ts";
import { newScim } from "./scim-state.ts";
import { insertAcceptance } from "./terms.ts";

/** Adds an identity provider under a reserved name, a mapping of one of its groups, and an accepted document. */
export async function insertSampleSignIn(tx: Transaction, { groupUid, ownerUid }: Organization): Promise<void> {
  const { time } = tx.context;
  const provider: IdentityProviderRow = {
    ...{ uid: newChild(groupUid), parent: groupUid, createTime: time, updateTime: time },
    ...{ name: "example", description: "Nobody can sign in with it: its issuer does not exist" },
    ...{ defaultRole: viewerRole.uid, issuer: "https://idp.example.org", clientId: "gatehouse", clientSecret: null },
    ...{ additionalScopes: ["email", "profile"], groupsClaim: "groups", correlationRule: 0, pkceEnabled: true },
    ...newScim(),
  };
  await insertRow(tx, identityProviderCollection, provider);
  await insertRow(tx, externalGroupRoleMappingCollection, {
    ...{ uid: newChild(provider.uid), parent: provider.uid, createTime: time },
    ...{ externalGroupId: "engineering", roleUid: viewerRole.uid, scope: groupUid },
  });
  await insertAcceptance(tx, groupUid, "sfdpa.v1", ownerUid);
}
