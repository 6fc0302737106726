// The rules for updates of an identity provider.
import type { IdentityProvider } from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { failedPrecondition, invalidField, permissionDenied } from "../../../aip/errors.ts";
import type { UpdateMask } from "../../../aip/field-mask.ts";
import { Access } from "../../../authz/access.ts";
import { combineRoles } from "../../../authz/grants.ts";
import { capabilitySet } from "../../../model/capabilities.ts";
import { activeRoles } from "../../../model/grants.ts";
import { parentOf } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { findRoleCapabilities } from "../../../storage/iam/delegations.ts";
import { findGrants } from "../../../storage/iam/grants.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import { findMappedRoles } from "../../../storage/iam/providers.ts";
import { unlinkScimUsers } from "../../../storage/iam/scim-users.ts";
import { believesTheSame } from "../../../storage/iam/vouchers.ts";
import type { Encryption } from "../../../storage/installation/encryption.ts";
import type { DiscoveryOptions } from "../../kinds/kind-options.ts";
import { effectiveMappings } from "../delegations/effective-mappings.ts";
import { withMaker } from "../rules/escalation.ts";
import { requireUsableRole } from "../rules/usable-role.ts";
import { encryptClientSecret } from "./client-secret.ts";
import { isReplaced, refuseLastSignIn } from "./provider-owners.ts";
import { requireRolesOfIssuer } from "./trusted-issuers.ts";

/** The request of an update, and the dependencies for storing a new client secret. */
export interface ProviderUpdate {
  readonly value: IdentityProvider;
  readonly mask: UpdateMask;
  readonly call: Call;
  readonly encryption: Encryption;
}

/** Returns the row to store. Throws if the update breaks a rule, or grants roles that the caller may not grant. */
export async function updated(
  tx: Transaction,
  before: IdentityProviderRow,
  after: IdentityProviderRow,
  { value, mask, call, encryption }: ProviderUpdate,
): Promise<IdentityProviderRow> {
  // The identity that changes a provider grants its default role again.
  await requireUsableRole(tx, after.defaultRole, before.parent, call, withMaker);
  await requireMappedRoles(tx, before, after, call);
  if (isReplaced(before, after)) await refuseLastSignIn(tx, before, call);
  const isSameIssuer = before.issuer === after.issuer && before.clientId === after.clientId;
  if (!isSameIssuer) {
    await requireRolesOfIssuer(tx, after, call);
    await unlinkScimUsers(tx, before.uid);
  }
  const secret = secretOf(value, mask);
  refuseSecretForNewIssuer(before, after, secret);
  const correlationRule = correlationOf(before, value, mask);
  // A secret in the request always counts as a change: an unchanged update time would confirm a guess.
  const clientSecret =
    secret === undefined ? before.clientSecret : secret && encryptClientSecret(encryption, before.uid, secret);
  requireSecretOrPkce(Boolean(clientSecret), after.pkceEnabled);
  return { ...after, correlationRule, clientSecret: clientSecret || null };
}

/** Throws unless the client authenticates to the issuer with a secret, with PKCE, or with both. */
export function requireSecretOrPkce(hasSecret: boolean, pkceEnabled: boolean): void {
  if (!hasSecret && !pkceEnabled)
    throw invalidField("oidc.client_secret", "is required unless oidc.pkce_enabled is set");
}

/**
 * Returns the client secret that an update sets: empty to remove it, undefined to keep the stored one. An empty secret in the
 * request keeps the stored one, unless the mask names the secret itself (published contract).
 */
function secretOf({ configuration }: IdentityProvider, mask: UpdateMask): string | undefined {
  const isNamed = mask.paths.includes("oidc.client_secret");
  if (!isNamed && !namesOidc(mask)) return undefined;
  const secret = configuration.case === "oidc" ? configuration.value.clientSecret : "";
  return secret === "" && !isNamed ? undefined : secret;
}

/**
 * Throws if an update would send the stored secret to another issuer. The secret is write-only: a caller who does not know it
 * must not learn it by changing the issuer.
 */
function refuseSecretForNewIssuer(
  before: IdentityProviderRow,
  after: IdentityProviderRow,
  secret: string | undefined,
): void {
  if (secret === undefined && before.clientSecret !== null && after.issuer !== before.issuer)
    throw invalidField("oidc.client_secret", "must be given again when oidc.issuer changes");
}

/** Returns the correlation rule, which an update may omit or repeat but not change. */
function correlationOf(
  { correlationRule }: IdentityProviderRow,
  { configuration }: IdentityProvider,
  mask: UpdateMask,
): number {
  const isNamed = namesOidc(mask) || mask.paths.includes("oidc.correlation_rule");
  const asked = configuration.case === "oidc" ? configuration.value.correlationRule : 0;
  if (isNamed && asked !== 0 && asked !== correlationRule)
    throw invalidField("oidc.correlation_rule", "cannot be changed; make another identity provider");
  return correlationRule;
}

/**
 * Throws unless the caller holds the capabilities of all mapped roles. Changing the issuer, client or groups claim changes who
 * gets these roles.
 */
async function requireMappedRoles(
  session: Session,
  before: IdentityProviderRow,
  after: IdentityProviderRow,
  call: Call,
): Promise<void> {
  if (believesTheSame(before, after)) return;
  for (const { roleUid, scope } of await findMappedRoles(session, before.uid)) {
    await requireUsableRole(session, roleUid, scope, call, withMaker);
    await requireBoundRole(session, roleUid, scope, before.uid, call);
  }
}

/** Throws if the caller holds the mapped role only through this provider: nobody can vouch for their own role. */
async function requireBoundRole(session: Session, roleUid: string, scope: string, providerUid: string, call: Call) {
  const { uid, token } = callerOf(call);
  const mappings = await effectiveMappings(session, uid, token.mappings ?? []);
  if (!mappings.some((mapping) => parentOf(mapping) === providerUid)) return;
  const bound = new Access(
    combineRoles(activeRoles((await findGrants(session, uid))?.roles ?? [], session.termTime())),
    {},
  );
  if (bound.missing(capabilitySet(await findRoleCapabilities(session, roleUid)), scope).length === 0) return;
  throw permissionDenied("the caller holds a mapped role by this identity provider only, and cannot vouch for it", {
    scope,
  });
}

/**
 * Throws if an update enables PKCE and the issuer's metadata lists other methods only. Metadata without
 * `code_challenge_methods_supported` passes: many issuers support PKCE without announcing it, contrary to RFC 8414 §2.
 */
export async function refuseImpossiblePkce(
  { discover }: DiscoveryOptions,
  before: IdentityProviderRow,
  after: IdentityProviderRow,
): Promise<void> {
  if (before.pkceEnabled || !after.pkceEnabled) return;
  const methods = (await discover(after.issuer))?.code_challenge_methods_supported;
  if (Array.isArray(methods) && !methods.includes("S256")) {
    throw failedPrecondition("PKCE_UNSUPPORTED", "the issuer does not support PKCE with S256", before.uid);
  }
}

/** Whether the mask covers the whole configuration. */
function namesOidc(mask: UpdateMask): boolean {
  return mask.isFull || mask.paths.includes("oidc");
}
