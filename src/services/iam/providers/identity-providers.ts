import {
  type IdentityProvider,
  type IdentityProvider_OIDC_CorrelationRule,
  IdentityProviderSchema,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { invalidField } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { descriptionRule, nameRule, uidRule } from "../../../pipeline/text-rules.ts";
import { commonOrders, defineResource } from "../../../resource/resource.ts";
import { type Deps, writeContext } from "../../../resource/service-context.ts";
import { requestMask, standardMethods } from "../../../resource/standard-methods.ts";
import { deleteRow, lockRow } from "../../../storage/collection/collection.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { maxMappings } from "../../../storage/iam/limits.ts";
import {
  externalGroupRoleMappingCollection,
  type IdentityProviderRow,
  identityProviderCollection,
  type ScimColumns,
} from "../../../storage/iam/provider-rows.ts";
import { findMappingsOf } from "../../../storage/iam/providers.ts";
import { groupParents } from "../groups/groups.ts";
import { requireUsableRole } from "../rules/usable-role.ts";
import { sealClientSecret } from "./client-secret.ts";
import { checkProvider, oidcRules } from "./provider-rules.ts";
import {
  correlationOf,
  refuseImpossiblePkce,
  refuseSecretForNewIssuer,
  requireMappedRoles,
  requireSecretOrPkce,
  secretOf,
} from "./provider-update.ts";
import { newScim } from "./scim-state.ts";
import { providerScim, scimTokens } from "./scim-tokens.ts";
import { requireRolesOfIssuer } from "./trusted-issuers.ts";

const providerResource = (deps: Deps) =>
  defineResource<typeof IdentityProviderSchema, IdentityProviderRow, "clientSecret" | keyof ScimColumns>({
    schema: IdentityProviderSchema,
    plural: "identityProviders",
    collection: identityProviderCollection,
    orderable: commonOrders,
    rules: { name: nameRule, description: descriptionRule, default_role: uidRule },
    parts: [oidcRules],
    check: (provider) => checkProvider(provider, deps.settings.allowInsecureIssuers),
    toMessage: providerMessage,
    toRow: providerColumns,
  });

/** Serves identity providers and their SCIM tokens. The client secret goes in and never comes out. */
export function identityProviders(deps: Deps): Implementation {
  const provider = providerResource(deps);
  const standard = standardMethods(provider, groupParents, deps);
  const { database, clock, seals } = deps;

  /** Lists leave out how far SCIM is set up; all else tells it. */
  const shown = (row: IdentityProviderRow) => ({
    ...providerMessage(row),
    scim: providerScim(deps, row, clock()),
  });

  async function create(parent: string, value: IdentityProvider, call: Call): Promise<IdentityProviderRow> {
    const { secret, pkceEnabled } = oidcOf(value);
    requireSecretOrPkce(secret !== "", pkceEnabled);
    return await database.write(writeContext(call, clock), async (tx) => {
      await requireUsableRole(tx, value.defaultRole, parent, call);
      await requireRolesOfIssuer(tx, { ...provider.toRow(value), parent }, call);
      return await standard.insert(tx, parent, value, (uid) => ({
        ...newScim(),
        clientSecret: secret === "" ? null : sealClientSecret(seals, uid, secret),
      }));
    });
  }

  return implement(
    IdentityProvidersService,
    {
      listIdentityProviders: (request, call) => standard.list(request, call, { name: request.name }),
      getIdentityProvider: async ({ uid }) => shown(await standard.find(database.session, uid)),
      async createIdentityProvider({ parent, identityProvider: value }, call) {
        // The people of an organization sign in, not those of a part of it.
        if (parent.includes("/")) throw invalidField("parent", "must be the uid of an organization (a root group)");
        return shown(await create(parent, value!, call));
      },
      async updateIdentityProvider({ identityProvider: value, updateMask }, call) {
        const mask = requestMask(IdentityProviderSchema, value!, updateMask);
        const known = await standard.find(database.session, value!.uid);
        await refuseImpossiblePkce(deps, known, standard.changed(known, value!, mask, clock()));
        const guard = async (tx: Transaction, before: IdentityProviderRow, after: IdentityProviderRow) => {
          // Whoever changes a provider gives the role away anew.
          await requireUsableRole(tx, after.defaultRole, before.parent, call);
          await requireMappedRoles(tx, before, after, call);
          const isSameWord = before.issuer === after.issuer && before.clientId === after.clientId;
          if (!isSameWord) await requireRolesOfIssuer(tx, after, call);
          const secret = secretOf(value!, mask);
          refuseSecretForNewIssuer(before, after, secret);
          const correlationRule = correlationOf(before, value!, mask);
          // A secret that is sent counts as another one: an update time that stays would confirm a guessed secret.
          const clientSecret =
            secret === undefined ? before.clientSecret : secret && sealClientSecret(seals, before.uid, secret);
          const updated = { ...after, correlationRule, clientSecret: clientSecret || null };
          requireSecretOrPkce(updated.clientSecret !== null, updated.pkceEnabled);
          return updated;
        };
        return await database.write(writeContext(call, clock), async (tx) =>
          shown(await standard.change(tx, value!, updateMask, (before, after) => guard(tx, before, after))),
        );
      },
      deleteIdentityProvider: (request, call) => standard.delete(request, call, deleteMappings),
      ...scimTokens(deps),
    },
    provider.messageRules,
  );
}

/** The provider stays locked, so that no mapping is added meanwhile. */
async function deleteMappings(tx: Transaction, { uid }: IdentityProviderRow): Promise<void> {
  await lockRow(tx, identityProviderCollection, uid);
  for (const mapping of await findMappingsOf(tx, uid, maxMappings)) {
    await deleteRow(tx, externalGroupRoleMappingCollection, mapping);
  }
}

function oidcOf({ configuration }: IdentityProvider): { secret: string; pkceEnabled: boolean } {
  if (configuration.case !== "oidc") return { secret: "", pkceEnabled: false };
  return { secret: configuration.value.clientSecret, pkceEnabled: configuration.value.pkceEnabled };
}

/** A stored provider as a message, without what there is of SCIM. */
export function providerMessage(row: IdentityProviderRow) {
  const { uid, name, description, defaultRole, issuer, clientId, additionalScopes, groupsClaim, pkceEnabled } = row;
  const correlationRule = row.correlationRule as IdentityProvider_OIDC_CorrelationRule;
  return {
    uid,
    name,
    description,
    defaultRole,
    configuration: {
      case: "oidc" as const,
      value: { issuer, clientId, additionalScopes, groupsClaim, correlationRule, pkceEnabled },
    },
    createTime: toTimestamp(row.createTime),
    updateTime: toTimestamp(row.updateTime),
  };
}

function providerColumns({ name, description, defaultRole, configuration }: IdentityProvider) {
  if (configuration.case !== "oidc") throw new Error("an identity provider without configuration is refused before");
  const { issuer, clientId, additionalScopes, groupsClaim, correlationRule, pkceEnabled } = configuration.value;
  return {
    ...{ name, description, defaultRole, issuer, clientId },
    ...{ additionalScopes: [...additionalScopes], groupsClaim, correlationRule, pkceEnabled },
  };
}
