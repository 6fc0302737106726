import type { IdentityProvider } from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import { believesTheSame } from "../../../storage/iam/vouchers.ts";
import type { Encryption } from "../../../storage/installation/encryption.ts";
import { checkRoleReference, inGroup, mapsOperators } from "../../kinds/import-checks.ts";
import { type ImportKind, importKind, type Transfer } from "../../kinds/import-kind.ts";
import { decryptClientSecret, encryptClientSecret } from "./client-secret.ts";
import { providerResource } from "./identity-providers.ts";
import { isReplaced, refuseLastSignIn } from "./provider-owners.ts";
import { newScim } from "./scim-state.ts";

/** The import of identity providers. */
export const identityProviderImport: Transfer = {
  name: "identityProvider",
  declare(context) {
    const provider = providerResource(context);
    return importKind({
      ...inGroup,
      resource: provider,
      isIndependent: () => true,
      toRow(message, own, before) {
        const columns = provider.toRow(message);
        const { scimEnabled, scimEtag, scimTokenDigest, scimExpireTime, ...scim } = before ?? newScim();
        const { scimPreviousDigest, scimPreviousExpireTime, scimRevokeTime } = scim;
        return {
          ...columns,
          clientSecret: storedSecret(context.encryption, message, { uid: own.uid, issuer: columns.issuer }, before),
          scimEnabled,
          scimEtag,
          scimTokenDigest,
          scimExpireTime,
          scimPreviousDigest,
          scimPreviousExpireTime,
          scimRevokeTime,
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
  },
};

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
