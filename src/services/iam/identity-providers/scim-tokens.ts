// The four methods of SCIM tokens. src/scim serves the protocol.
import { type Duration, durationFromMs, durationMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import {
  IdentityProviderSchema,
  type IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { aborted, failedPrecondition, invalidField, notFound } from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { fromTimestamp, toTimestamp } from "../../../aip/timestamps.ts";
import { ownerRole } from "../../../authz/built-in-roles.ts";
import { hourMs } from "../../../base/clock.ts";
import { capabilitySet, missingCapabilities } from "../../../model/capabilities.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Handlers } from "../../../pipeline/handlers.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { findRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { identityProviderCollection } from "../../../storage/iam/collections.ts";
import type { IdentityProviderRow, ScimColumns } from "../../../storage/iam/provider-rows.ts";
import { findMappedRoles } from "../../../storage/iam/providers.ts";
import { findHoldersAt, findRolesBoundAt } from "../../../storage/iam/role-bindings.ts";
import { withMaker } from "../rules/escalation.ts";
import { requireUsableRole } from "../rules/usable-role.ts";
import { keepSignIns } from "./provider-owners.ts";
import {
  digestScimToken,
  newScimToken,
  overlapEnd,
  revoked,
  scimMessage,
  switched,
  wasIssued,
  withToken,
} from "./scim-state.ts";

const tokenType = "iam.chainguard.dev/ScimToken";
const yearMs = 365 * 24 * hourMs;
const maxOverlapMs = 24 * hourMs;
const maxLifetimeMs = 2 * yearMs;

type ScimMethods = "generateScimToken" | "regenerateScimToken" | "revokeScimToken" | "setScimEnabled";

/** Returns the SCIM state of a provider. `now` is in milliseconds since the epoch. */
export function providerScim(context: ServiceContext, row: IdentityProviderRow, now: number) {
  return scimMessage(row, scimEndpoint(context, row.uid), now);
}

/** Returns the URL to which the SCIM client of a provider sends its requests. */
function scimEndpoint(context: ServiceContext, providerUid: string): string {
  return `${context.settings.baseUrl}/scim/v2/${providerUid}`;
}

/** Returns the handlers of SCIM tokens. */
export function scimTokens(context: ServiceContext): Pick<Handlers<typeof IdentityProvidersService>, ScimMethods> {
  const change = scimChanger(context);
  return {
    async generateScimToken(request, call) {
      const expireTime = expiryOf(request, context.clock());
      const token = newScimToken();
      const row = await change(request.identityProviderUid, call, async (before, tx) => {
        await requireProvisionedRoles(tx, before, call);
        if (wasIssued(before)) throw tokenExists(before.uid);
        return withToken(before, { digest: digestScimToken(token), expireTime }, 0, tx.context.time);
      });
      return { ...issuedResponse(context, row), token };
    },

    async regenerateScimToken(request, call) {
      const expireTime = expiryOf(request, context.clock());
      const overlapMs = overlapOf(request.overlap);
      const token = newScimToken();
      const row = await change(request.identityProviderUid, call, async (before, tx) => {
        const { time } = tx.context;
        await requireProvisionedRoles(tx, before, call);
        if (!wasIssued(before)) throw notFound(tokenType, before.uid);
        requireEtag(before, request.etag);
        return withToken(before, { digest: digestScimToken(token), expireTime }, time + overlapMs, time);
      });
      return { ...reissuedResponse(context, row), token, requestedOverlap: durationFromMs(overlapMs) };
    },

    async revokeScimToken({ identityProviderUid }, call) {
      const row = await change(identityProviderUid, call, (before, tx) => {
        if (!wasIssued(before)) throw notFound(tokenType, before.uid);
        return revoked(before, tx.context.time);
      });
      return revokedResponse(row);
    },

    async setScimEnabled({ identityProviderUid, enabled, etag }, call) {
      const row = await change(identityProviderUid, call, async (before, tx) => {
        requireEtag(before, etag);
        if (enabled) await requireTwoOwners(tx, before.parent);
        if (enabled !== before.scimEnabled) tx.changeAccess();
        return switched(before, enabled);
      });
      return switchedResponse(row);
    },
  };
}

/** Returns the function that changes the SCIM columns of a provider in a transaction. */
function scimChanger({ database, clock }: ServiceContext) {
  return async (
    uid: string,
    call: Call,
    decide: (row: IdentityProviderRow, tx: Transaction) => ScimColumns | Promise<ScimColumns>,
  ): Promise<IdentityProviderRow> =>
    await database.write(writeContext(call, clock), async (tx) => {
      const before = await findRow(tx, identityProviderCollection, uid);
      if (!before) throw notFound(resourceType(IdentityProviderSchema), uid);
      const after = { ...before, ...(await decide(before, tx)), updateTime: tx.context.time };
      const update = () => updateRow(tx, identityProviderCollection, before, after);
      // Only provisioned people sign in from now on.
      const isLimiting = after.scimEnabled && !before.scimEnabled;
      return isLimiting ? await keepSignIns(tx, before, call, update) : await update();
    });
}

/** Throws unless the caller holds what the bearer of the token can give: the default role, and the roles of all mappings. */
async function requireProvisionedRoles(tx: Transaction, provider: IdentityProviderRow, call: Call): Promise<void> {
  await requireUsableRole(tx, provider.defaultRole, provider.parent, call, withMaker);
  for (const { roleUid, scope } of await findMappedRoles(tx, provider.uid))
    await requireUsableRole(tx, roleUid, scope, call, withMaker);
}

function tokenExists(providerUid: string) {
  return failedPrecondition(
    "SCIM_TOKEN_EXISTS",
    "the identity provider already had a token; regenerate it",
    providerUid,
  );
}

/** Returns the response of a generated token, without the token itself. */
export function issuedResponse(
  context: ServiceContext,
  { uid: identityProviderUid, scimEtag: etag, scimExpireTime }: IdentityProviderRow,
) {
  const response = { endpointUrl: scimEndpoint(context, identityProviderUid), identityProviderUid, etag };
  return scimExpireTime === null ? response : { ...response, expireTime: toTimestamp(scimExpireTime) };
}

/** Returns the response of a regenerated token, without the token itself and the requested overlap. */
export function reissuedResponse(context: ServiceContext, row: IdentityProviderRow) {
  const end = overlapEnd(row, row.updateTime);
  return { ...issuedResponse(context, row), ...(end !== undefined && { previousTokenExpireTime: toTimestamp(end) }) };
}

/** Returns the response of a revocation. */
export function revokedResponse({ uid: identityProviderUid, ...row }: IdentityProviderRow) {
  const { scimEtag: etag, scimEnabled: enabled } = row;
  return { identityProviderUid, etag, enabled, revokeTime: toTimestamp(row.scimRevokeTime!) };
}

/** Returns the response after provisioning was enabled or disabled. */
export function switchedResponse({
  uid: identityProviderUid,
  scimEnabled: enabled,
  scimEtag: etag,
}: IdentityProviderRow) {
  return { identityProviderUid, enabled, etag };
}

/** Returns when a new token expires; null for never. */
function expiryOf(
  request: { readonly expireTime?: Timestamp | undefined; readonly neverExpires: boolean },
  now: number,
): number | null {
  if (request.neverExpires) {
    if (request.expireTime) throw invalidField("never_expires", "must not be set together with expire_time");
    return null;
  }
  if (!request.expireTime) return now + yearMs;
  const expireTime = fromTimestamp(request.expireTime);
  if (expireTime <= now || expireTime > now + maxLifetimeMs)
    throw invalidField("expire_time", "must lie in the future, at most two years (730 days) from now");
  return expireTime;
}

function overlapOf(overlap: Duration | undefined): number {
  if (!overlap) return hourMs;
  const milliseconds = Math.floor(durationMs(overlap));
  if (milliseconds < 0 || milliseconds > maxOverlapMs)
    throw invalidField("overlap", "must not be negative, and at most 24 hours");
  return milliseconds;
}

/** AIP-154. */
function requireEtag({ scimEtag }: ScimColumns, etag: string): void {
  if (etag !== scimEtag)
    throw aborted("the etag is not that of the current state; read the identity provider and try again");
}

/** Throws unless two identities are bound as owners: provisioning may remove one of them. */
async function requireTwoOwners(session: Session, groupUid: string): Promise<void> {
  const wanted = capabilitySet(ownerRole.capabilities);
  const owners = new Set<string>();
  for (const { uid, capabilities } of await findRolesBoundAt(session, groupUid)) {
    if (missingCapabilities(capabilitySet(capabilities), wanted).length > 0) continue;
    for (const identityUid of await findHoldersAt(session, groupUid, uid, 2)) owners.add(identityUid);
  }
  if (owners.size < 2) {
    throw failedPrecondition(
      "TOO_FEW_OWNERS",
      "provisioning requires two identities with the owner role in the organization; bind another one first",
      groupUid,
    );
  }
}
