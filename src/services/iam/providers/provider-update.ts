// What is peculiar to the update of an identity provider.
import type { IdentityProvider } from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { failedPrecondition, invalidField, permissionDenied } from "../../../aip/errors.ts";
import type { UpdateMask } from "../../../aip/field-mask.ts";
import { Access } from "../../../authz/access.ts";
import { combineRoles } from "../../../authz/policy.ts";
import { capabilitySet } from "../../../model/capabilities.ts";
import { parentOf } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Deps } from "../../../resource/service-context.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findRoleCapabilities } from "../../../storage/iam/delegations.ts";
import { findHolder } from "../../../storage/iam/grants.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import { findMappedRoles } from "../../../storage/iam/providers.ts";
import { believesTheSame } from "../../../storage/iam/vouchers.ts";
import { requireUsableRole } from "../rules/usable-role.ts";

/** A client proves itself to the issuer by its secret, by PKCE, or by both. */
export function requireSecretOrPkce(hasSecret: boolean, pkceEnabled: boolean): void {
  if (!hasSecret && !pkceEnabled)
    throw invalidField("oidc.client_secret", "is required unless oidc.pkce_enabled is set");
}

/**
 * The secret that an update brings; undefined when it keeps the stored one, empty when it takes it away.
 *
 * The published contract: an empty secret keeps what is stored, unless the mask names the secret itself.
 */
export function secretOf({ configuration }: IdentityProvider, mask: UpdateMask): string | undefined {
  const isNamed = mask.paths.includes("oidc.client_secret");
  if (!isNamed && !namesOidc(mask)) return undefined;
  const secret = configuration.case === "oidc" ? configuration.value.clientSecret : "";
  return secret === "" && !isNamed ? undefined : secret;
}

/**
 * A stored secret was given for one issuer. Throws when another one would be sent it by somebody who may not know it:
 * write only means that changing the address must not read it out.
 */
export function refuseSecretForNewIssuer(
  before: IdentityProviderRow,
  after: IdentityProviderRow,
  secret: string | undefined,
): void {
  if (secret === undefined && before.clientSecret !== null && after.issuer !== before.issuer)
    throw invalidField("oidc.client_secret", "must be given again when oidc.issuer changes");
}

/** The correlation rule stays; an update may leave it out or repeat it. */
export function correlationOf(
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
 * Whoever decides whose word is believed decides who gets the mapped roles: throws unless the caller holds what they
 * grant.
 */
export async function requireMappedRoles(
  session: Session,
  before: IdentityProviderRow,
  after: IdentityProviderRow,
  call: Call,
): Promise<void> {
  if (believesTheSame(before, after)) return;
  for (const { roleUid, scope } of await findMappedRoles(session, before.uid)) {
    await requireUsableRole(session, roleUid, scope, call);
    await requireBoundRole(session, roleUid, scope, before.uid, call);
  }
}

/** Nobody vouches for what they hold by that alone: throws unless the caller holds the role without the provider, too. */
async function requireBoundRole(session: Session, roleUid: string, scope: string, providerUid: string, call: Call) {
  const { uid, token } = callerOf(call);
  if (!token.mappings?.some((mapping) => parentOf(mapping) === providerUid)) return;
  const bound = new Access(combineRoles((await findHolder(session, uid))?.roles ?? []), {});
  if (bound.missing(capabilitySet(await findRoleCapabilities(session, roleUid)), scope).length === 0) return;
  throw permissionDenied("the caller holds a mapped role by this identity provider only, and cannot vouch for it", {
    scope,
  });
}

/**
 * Throws when PKCE is to be switched on and the issuer says that it does not know it. An issuer that says nothing is
 * believed to: many that do PKCE do not announce it (RFC 8414 §2 notwithstanding).
 */
export async function refuseImpossiblePkce(
  deps: Deps,
  before: IdentityProviderRow,
  after: IdentityProviderRow,
): Promise<void> {
  if (before.pkceEnabled || !after.pkceEnabled) return;
  const methods = (await deps.discover(after.issuer))?.code_challenge_methods_supported;
  if (Array.isArray(methods) && !methods.includes("S256")) {
    throw failedPrecondition("PKCE_UNSUPPORTED", "the issuer does not support PKCE with S256", before.uid);
  }
}

/** Whether the mask names the configuration as a whole. */
function namesOidc(mask: UpdateMask): boolean {
  return mask.isFull || mask.paths.includes("oidc");
}
