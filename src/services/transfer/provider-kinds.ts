// How identity providers, their mappings and subscriptions are imported.
import type { ExternalGroupRoleMappingSchema } from "../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import type { IdentityProvider } from "../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { rootOf } from "../../model/uid.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { lockRow } from "../../storage/collection/rows.ts";
import { readCounter } from "../../storage/engine/counters.ts";
import type { Session } from "../../storage/engine/session.ts";
import { type SubscriptionRow, subscriptionCollection } from "../../storage/events/rows.ts";
import { groupCollection, identityProviderCollection } from "../../storage/iam/collections.ts";
import { maxMappings } from "../../storage/iam/limits.ts";
import type { ExternalGroupRoleMappingRow, IdentityProviderRow } from "../../storage/iam/provider-rows.ts";
import { findMappingsOf } from "../../storage/iam/providers.ts";
import { believesTheSame } from "../../storage/iam/vouchers.ts";
import type { Encryption } from "../../storage/installation/encryption.ts";
import { childrenKey } from "../../storage/schema/entry-keys.ts";
import { maxOfGroup, subscriptionResource } from "../events/subscriptions/subscriptions.ts";
import { mapping } from "../iam/external-group-role-mappings/external-group-role-mappings.ts";
import { decryptClientSecret, encryptClientSecret } from "../iam/identity-providers/client-secret.ts";
import { providerResource } from "../iam/identity-providers/identity-providers.ts";
import { isReplaced, refuseLastSignIn } from "../iam/identity-providers/provider-owners.ts";
import { newScim } from "../iam/identity-providers/scim-state.ts";
import { checkKeepsOperators, checkRoleReference, inGroup, mapsOperators, takenBy } from "./import-checks.ts";
import type { ImportKind, Problem } from "./import-kind.ts";
import { importerOf } from "./import-resource.ts";

/** Returns the importer of identity providers. */
export function providerImporter(context: ServiceContext, encryption: Encryption) {
  const provider = providerResource(context);
  return importerOf({
    ...inGroup,
    resource: provider,
    isIndependent: () => true,
    toRow(message, own, before) {
      const columns = provider.toRow(message);
      const { scimEnabled, scimEtag, scimTokenDigest, scimExpireTime, ...scim } = before ?? newScim();
      const { scimPreviousDigest, scimPreviousExpireTime, scimRevokeTime } = scim;
      return {
        ...columns,
        clientSecret: storedSecret(encryption, message, { uid: own.uid, issuer: columns.issuer }, before),
        ...{ scimEnabled, scimEtag, scimTokenDigest, scimExpireTime },
        ...{ scimPreviousDigest, scimPreviousExpireTime, scimRevokeTime },
        ...own,
        parent: own.parent!,
      };
    },
    secret: { field: "oidc.client_secret", of: ({ clientSecret }) => clientSecret },
    references: ({ defaultRole }) => [defaultRole],
    async check(session, after, before) {
      const { parent, defaultRole, correlationRule } = after;
      if (parent.includes("/"))
        return [{ field: "uid", description: "must be directly below an organization (a root group)" }];
      if (before && before.correlationRule !== correlationRule)
        return [{ field: "oidc.correlation_rule", description: "cannot be changed" }];
      if (before && !believesTheSame(before, after) && (await mapsOperators(session, after.uid)))
        return [{ field: "oidc", description: "decides who operators are here, which an import does not change" }];
      return await checkRoleReference(session, defaultRole, parent, "default_role");
    },
    async prepare(tx, after, before, call) {
      if (before && isReplaced(before, after)) await refuseLastSignIn(tx, before, call);
    },
  } satisfies ImportKind<typeof provider.schema, IdentityProviderRow>);
}

/** Returns the client secret to store. The same secret keeps its ciphertext: a repeated import changes nothing. */
function storedSecret(
  encryption: Encryption,
  { configuration }: IdentityProvider,
  { uid, issuer }: Pick<IdentityProviderRow, "uid" | "issuer">,
  before: IdentityProviderRow | undefined,
): string | null {
  const given = configuration.case === "oidc" ? configuration.value.clientSecret : "";
  // A stored secret is never sent to another issuer.
  if (given === "") return before?.issuer === issuer ? before.clientSecret : null;
  return before && decryptClientSecret(encryption, before) === given
    ? before.clientSecret
    : encryptClientSecret(encryption, uid, given);
}

/** Imports mappings of external groups. */
export const mappingImporter = importerOf<typeof ExternalGroupRoleMappingSchema, ExternalGroupRoleMappingRow>({
  parents: identityProviderCollection,
  parentOf: inGroup.parentOf,
  resource: mapping,
  // Their number is limited.
  isIndependent: () => false,
  toRow: (message, { uid, parent, createTime }) => ({ ...mapping.toRow(message), uid, parent: parent!, createTime }),
  references: ({ roleUid, scope }) => [roleUid, scope],
  check: checkMapping,
  // A concurrent import of another mapping must see this one.
  prepare: async (tx, { parent }) => void (await lockRow(tx, identityProviderCollection, parent)),
});

async function checkMapping(
  session: Session,
  after: ExternalGroupRoleMappingRow,
  before: ExternalGroupRoleMappingRow | undefined,
): Promise<readonly Problem[]> {
  const { uid, parent, externalGroupId, roleUid, scope } = after;
  if (before) {
    const problems = await checkKeepsOperators(session, before.roleUid, "uid");
    if (problems.length > 0) return problems;
  }
  if (scope !== rootOf(parent))
    return [{ field: "scope", description: "must be the organization of the identity provider" }];
  const known = await findMappingsOf(session, parent, maxMappings);
  if (!before && known.length >= maxMappings)
    return [{ field: "uid", description: `is one of more than ${maxMappings} mappings of its identity provider` }];
  const same = known.find(
    (row) => row.externalGroupId === externalGroupId && row.roleUid === roleUid && row.scope === scope,
  );
  const taken = takenBy(same, uid, "external_group_id", "has this role by another mapping");
  return [...taken, ...(await checkRoleReference(session, roleUid, scope, "role_uid"))];
}

/** Returns the importer of subscriptions. */
export function subscriptionImporter(context: ServiceContext) {
  const subscription = subscriptionResource(context);
  return importerOf({
    ...inGroup,
    resource: subscription,
    // Their number is limited.
    isIndependent: () => false,
    toRow: (message, { uid, parent, createTime }) => ({
      ...subscription.toRow(message),
      uid,
      parent: parent!,
      createTime,
    }),
    async check(session, { parent }, before) {
      if (before || (await readCounter(session, childrenKey(parent), subscriptionCollection.kind)) < maxOfGroup)
        return [];
      return [{ field: "uid", description: `is one of more than ${maxOfGroup} subscriptions of its group` }];
    },
    prepare: async (tx, { parent }) => void (await lockRow(tx, groupCollection, parent)),
  } satisfies ImportKind<typeof subscription.schema, SubscriptionRow>);
}
