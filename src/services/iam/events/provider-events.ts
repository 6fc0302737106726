import { create, type DescMessage, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  BatchDeleteExternalGroupRoleMappingsResponseSchema,
  ExternalGroupRoleMappingSchema,
  ExternalGroupRoleMappingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import {
  IdentityProviderSchema,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { parentOf, rootOf } from "../../../model/uid.ts";
import { type MethodEvent, resourceEvents } from "../../../resource/method-event.ts";
import { type RowView, rowView } from "../../../resource/row-view.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { externalGroupRoleMappingCollection, identityProviderCollection } from "../../../storage/iam/collections.ts";
import type { ExternalGroupRoleMappingRow, IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import { mappingMessage } from "../external-group-role-mappings/external-group-role-mappings.ts";
import { providerMessage } from "../identity-providers/identity-providers.ts";
import {
  issuedResponse,
  providerScim,
  reissuedResponse,
  revokedResponse,
  switchedResponse,
} from "../identity-providers/scim-tokens.ts";

const providers = IdentityProvidersService.method;
const mappings = ExternalGroupRoleMappingsService.method;

const loggedProviders = { collection: identityProviderCollection, schema: IdentityProviderSchema };

const loggedMappings = {
  collection: externalGroupRoleMappingCollection,
  schema: ExternalGroupRoleMappingSchema,
  message: mappingMessage,
};

/** Shows identity providers and their mappings in the audit log. */
export const providerViews: readonly RowView[] = [
  rowView(loggedProviders, providerMessage),
  rowView(loggedMappings, mappingMessage),
];

/** The events of identity providers, their SCIM tokens and their mappings. */
export function providerEvents(context: ServiceContext): MethodEvent[] {
  return [
    ...resourceEvents(
      [providers.createIdentityProvider, providers.updateIdentityProvider, providers.deleteIdentityProvider],
      {
        ...loggedProviders,
        message: (row: IdentityProviderRow, session, time) => eventMessage(row, session, context, time),
      },
    ),
    scimEvent(providers.generateScimToken, (row) => issuedResponse(context, row)),
    scimEvent(providers.regenerateScimToken, (row) => reissuedResponse(context, row)),
    scimEvent(providers.revokeScimToken, revokedResponse),
    scimEvent(providers.setScimEnabled, switchedResponse),
    ...resourceEvents([mappings.createExternalGroupRoleMapping, mappings.deleteExternalGroupRoleMapping], {
      ...loggedMappings,
      group: rootOf,
      identityProvider: parentOf,
    }),
    deletedMappings,
  ];
}

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

const deletedMappings: MethodEvent = {
  method: mappings.batchDeleteExternalGroupRoleMappings,
  kind: externalGroupRoleMappingCollection.kind,
  isBatch: true,
  group: rootOf,
  subject: ([uid]) => parentOf(uid!),
  identityProvider: parentOf,
  body(changes) {
    const rows = changes.map(({ before }) => before as ExternalGroupRoleMappingRow);
    return create(BatchDeleteExternalGroupRoleMappingsResponseSchema, {
      parent: parentOf(changes[0].uid),
      externalGroupRoleMappings: rows.map(mappingMessage),
    });
  },
};
