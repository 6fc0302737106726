import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type JsonObject,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  IdentityProviderSchema,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { IdentityProviderSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { parentOf } from "../../../model/uid.ts";
import { type MethodEvent, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { identityProviderCollection } from "../../../storage/iam/collections.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import { type ChangedSpec, defineKind, type Recorded } from "../../kinds/kind.ts";
import type { KindOptions } from "../../kinds/kind-options.ts";
import { missingRole } from "../../kinds/missing.ts";
import type { SpecOf } from "../../kinds/spec.ts";
import { identityProviders, providerMessage } from "./identity-providers.ts";
import { identityProviderImport } from "./import.ts";
import { issuedResponse, providerScim, reissuedResponse, revokedResponse, switchedResponse } from "./scim-tokens.ts";

const { createIdentityProvider, updateIdentityProvider, deleteIdentityProvider, ...scim } =
  IdentityProvidersService.method;

const recorded = { collection: identityProviderCollection, schema: IdentityProviderSchema };

/** The recording of changes of identity providers and of their SCIM tokens. */
const recordedProviders: Recorded = {
  views: [rowView(recorded, providerMessage)],
  events: (context) => [
    ...resourceEvents([createIdentityProvider, updateIdentityProvider, deleteIdentityProvider], {
      ...recorded,
      message: (row: IdentityProviderRow, session, time) => eventMessage(row, session, context, time),
    }),
    scimEvent(scim.generateScimToken, (row) => issuedResponse(context, row)),
    scimEvent(scim.regenerateScimToken, (row) => reissuedResponse(context, row)),
    scimEvent(scim.revokeScimToken, revokedResponse),
    scimEvent(scim.setScimEnabled, switchedResponse),
  ],
};

/** Converts a provider to the message of its events, which have no times (published contract). */
async function eventMessage(
  row: IdentityProviderRow,
  session: Session,
  context: ServiceContext,
  time: number,
): Promise<MessageInitShape<typeof IdentityProviderSchema>> {
  const { createTime: _created, updateTime: _updated, ...provider } = providerMessage(row);
  // The state of the token follows from its digest, which the change log does not contain.
  const now = await findRow(session, identityProviderCollection, row.uid);
  const scim = now?.scimEtag === row.scimEtag ? now : { ...row, scimTokenDigest: null, scimPreviousDigest: null };
  return { ...provider, scim: providerScim(context, { ...row, ...scim }, time) };
}

function scimEvent<D extends DescMessage>(
  method: DescMethodUnary<DescMessage, D>,
  response: (row: IdentityProviderRow) => MessageInitShape<D>,
): MethodEvent {
  return {
    method,
    kind: identityProviderCollection.kind,
    group: parentOf,
    subject: ([uid]) => uid!,
    // The change log contains no secret columns.
    body: ([{ after }]) => create(method.output, response(after as IdentityProviderRow)),
  };
}

/** Identity providers. */
export const identityProviderKind = defineKind({
  name: "identityProvider",
  schema: IdentityProviderSchema,
  service: IdentityProvidersService,
  collection: identityProviderCollection,
  implement: identityProviders,
  transfer: [identityProviderImport],
  recorded: recordedProviders,
  file: {
    references: ["role"],
    isTarget: true,
    groupOf: () => "",
    missing: ({ defaultRole }, names) => missingRole("default_role", defaultRole, "", names),
    toSpec(row, names) {
      const { name, description, defaultRole, configuration } = providerMessage(row);
      return create(IdentityProviderSpecSchema, {
        name,
        description,
        defaultRole: names.roleReference("", defaultRole),
        oidc: configuration.value,
      });
    },
    toMessage({ name, description, defaultRole, oidc }, uids, hasSecret) {
      const configuration = oidc && { case: "oidc", value: hasSecret ? oidc : { ...oidc, clientSecret: "" } };
      return { name, description, defaultRole: uids.role("", defaultRole), ...(configuration && { configuration }) };
    },
    comparable: comparedOneByOne,
    // The last owner may sign in by it.
    deletedAfter: "identity",
    secret: { field: "oidc.client_secret", boundTo: "oidc.issuer", of: ({ oidc }) => oidc?.clientSecret ?? "" },
    prepare: discoverAll,
  },
});

/** The fields of the configuration are compared one by one. The secret is not: nobody can read the stored one. */
function comparedOneByOne({ oidc = {}, ...rest }: JsonObject): JsonObject {
  const { client_secret: _, ...configuration } = oidc as JsonObject;
  return {
    ...rest,
    ...Object.fromEntries(Object.entries(configuration).map(([name, value]) => [`oidc.${name}`, value])),
  };
}

/** Fetches the discovery documents of issuers whose support of PKCE is checked. */
async function discoverAll(
  changes: readonly ChangedSpec<SpecOf<"identityProvider">>[],
  options: KindOptions,
): Promise<KindOptions> {
  const asked = changes.filter(({ fields }) => fields.includes("oidc.pkce_enabled"));
  const found = new Map<string, ReturnType<KindOptions["discover"]>>();
  for (const issuer of new Set(asked.map(({ value }) => value.oidc?.issuer ?? "")))
    found.set(issuer, options.discover(issuer));
  await Promise.all(found.values());
  return { ...options, discover: async (issuer) => await found.get(issuer) };
}
