// Identity providers and mappings for the tenancy matrix and the tests of secrets.

import { newChild } from "../../src/model/uid.ts";
import {
  digestScimToken,
  newScim,
  newScimToken,
  withToken,
} from "../../src/services/iam/identity-providers/scim-state.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { externalGroupRoleMappingCollection, identityProviderCollection } from "../../src/storage/iam/collections.ts";
import type { ExternalGroupRoleMappingRow, IdentityProviderRow } from "../../src/storage/iam/provider-rows.ts";
import { arrange, type Place, viewerRole } from "./tree.ts";

/** Adds an identity provider with PKCE, the viewer's role as its default, and a SCIM token. */
export function addProvider(
  server: Place,
  parent: string,
  changes: Partial<IdentityProviderRow> = {},
): Promise<string> {
  const uid = newChild(parent);
  const now = server.clock();
  const token = { digest: digestScimToken(newScimToken()), expireTime: null };
  const row: IdentityProviderRow = {
    uid,
    parent,
    name: "provider",
    description: "",
    createTime: now,
    updateTime: now,
    defaultRole: viewerRole.uid,
    issuer: "https://idp.example.org",
    clientId: "gatehouse",
    clientSecret: null,
    additionalScopes: [],
    groupsClaim: "",
    correlationRule: 0,
    pkceEnabled: true,
    ...withToken(newScim(), token, 0, now),
    ...changes,
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, identityProviderCollection, row);
    return row.uid;
  });
}

/** Adds a mapping of some group of a provider to the viewer's role. */
export function addMapping(server: Place, parent: string): Promise<string> {
  const uid = newChild(parent);
  const row: ExternalGroupRoleMappingRow = {
    uid,
    parent,
    externalGroupId: uid,
    roleUid: viewerRole.uid,
    scope: parent.split("/")[0]!,
    createTime: server.clock(),
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, externalGroupRoleMappingCollection, row);
    return uid;
  });
}
