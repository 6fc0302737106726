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
import { requestMask } from "../../../resource/apply-update.ts";
import { tagResponse } from "../../../resource/read-methods.ts";
import { commonOrders, defineResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { standardMethods } from "../../../resource/standard-methods.ts";
import { deleteRow, lockRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { externalGroupRoleMappingCollection, identityProviderCollection } from "../../../storage/iam/collections.ts";
import { maxMappings } from "../../../storage/iam/limits.ts";
import type { IdentityProviderRow, ScimColumns } from "../../../storage/iam/provider-rows.ts";
import { findMappingsOf } from "../../../storage/iam/providers.ts";
import type { Encryption } from "../../../storage/installation/encryption.ts";
import type { KindContext } from "../../kinds/kind-options.ts";
import { groupParents } from "../groups/groups.ts";
import { deleteSuspendedBindings } from "../provisioning/suspensions.ts";
import { withMaker } from "../rules/escalation.ts";
import { requireUsableRole } from "../rules/usable-role.ts";
import { encryptClientSecret } from "./client-secret.ts";
import { refuseLastSignIn } from "./provider-owners.ts";
import { checkProvider, oidcRules } from "./provider-rules.ts";
import { refuseImpossiblePkce, requireSecretOrPkce, updated } from "./provider-update.ts";
import { newScim } from "./scim-state.ts";
import { providerScim, scimTokens } from "./scim-tokens.ts";
import { requireRolesOfIssuer } from "./trusted-issuers.ts";

export const providerResource = (context: ServiceContext) =>
  defineResource<typeof IdentityProviderSchema, IdentityProviderRow, "clientSecret" | keyof ScimColumns>({
    schema: IdentityProviderSchema,
    plural: "identityProviders",
    collection: identityProviderCollection,
    orderable: commonOrders,
    rules: { name: nameRule, description: descriptionRule, default_role: uidRule },
    parts: [oidcRules],
    check: (provider) => checkProvider(provider, context.settings.allowInsecureIssuers),
    toMessage: providerMessage,
    toRow: providerColumns,
  });

function providerMethods(context: ServiceContext) {
  const provider = providerResource(context);
  return { provider, standard: standardMethods(provider, groupParents, context) };
}

/** Serves identity providers and their SCIM tokens. No response contains a client secret. */
export function identityProviders(context: KindContext): Implementation {
  const methods = providerMethods(context);
  const { provider, standard } = methods;
  const create = providerCreator(context, methods, context.encryption);
  const { database, clock } = context;

  /** Every response except a list contains the SCIM state. */
  const shown = (row: IdentityProviderRow) => ({
    ...providerMessage(row),
    scim: providerScim(context, row, clock()),
  });

  return implement(
    IdentityProvidersService,
    {
      listIdentityProviders: (request, call) => standard.list(request, call, { name: request.name }),
      async getIdentityProvider({ uid }, call) {
        const row = await standard.find(database.session, uid);
        tagResponse(call, identityProviderCollection, row);
        return shown(row);
      },
      async createIdentityProvider({ parent, identityProvider: value }, call) {
        // Users sign in to an organization, not to one of its subgroups.
        if (parent.includes("/")) throw invalidField("parent", "must be the uid of an organization (a root group)");
        return shown(await create(parent, value!, call));
      },
      async updateIdentityProvider({ identityProvider: value, updateMask }, call) {
        const mask = requestMask(IdentityProviderSchema, value!, updateMask);
        const known = await standard.find(database.session, value!.uid);
        await refuseImpossiblePkce(context, known, standard.changed(known, value!, mask, clock()));
        const update = { value: value!, mask, call, encryption: context.encryption };
        return await database.write(writeContext(call, clock), async (tx) =>
          shown(await standard.change(tx, value!, updateMask, (before, after) => updated(tx, before, after, update))),
        );
      },
      deleteIdentityProvider: (request, call) =>
        standard.delete(request, call, (tx, row) => deleteMappings(tx, row, call)),
      ...scimTokens(context),
    },
    provider.messageRules,
  );
}

/** Returns the function that creates a provider whose roles the caller may grant. */
function providerCreator(
  context: ServiceContext,
  { provider, standard }: ReturnType<typeof providerMethods>,
  encryption: Encryption,
) {
  return async (parent: string, value: IdentityProvider, call: Call): Promise<IdentityProviderRow> => {
    const { secret, pkceEnabled } = oidcOf(value);
    requireSecretOrPkce(secret !== "", pkceEnabled);
    return await context.database.write(writeContext(call, context.clock), async (tx) => {
      await requireUsableRole(tx, value.defaultRole, parent, call, withMaker);
      await requireRolesOfIssuer(tx, { ...provider.toRow(value), parent }, call);
      return await standard.insert(tx, parent, value, (uid) => ({
        ...newScim(),
        clientSecret: secret === "" ? null : encryptClientSecret(encryption, uid, secret),
      }));
    });
  };
}

/** Deletes the mappings of a provider, which stays locked: no mapping can be added in the meantime. */
async function deleteMappings(tx: Transaction, row: IdentityProviderRow, call: Call): Promise<void> {
  const { uid } = row;
  await lockRow(tx, identityProviderCollection, uid);
  await refuseLastSignIn(tx, row, call);
  await deleteSuspendedBindings(tx, uid);
  for (const mapping of await findMappingsOf(tx, uid, maxMappings)) {
    await deleteRow(tx, externalGroupRoleMappingCollection, mapping);
  }
}

function oidcOf({ configuration }: IdentityProvider): { secret: string; pkceEnabled: boolean } {
  if (configuration.case !== "oidc") return { secret: "", pkceEnabled: false };
  return { secret: configuration.value.clientSecret, pkceEnabled: configuration.value.pkceEnabled };
}

/** Converts a stored provider to its message, without the SCIM state. */
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
    name,
    description,
    defaultRole,
    issuer,
    clientId,
    additionalScopes: [...additionalScopes],
    groupsClaim,
    correlationRule,
    pkceEnabled,
  };
}
