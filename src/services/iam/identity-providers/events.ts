import { create, type DescMessage, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  IdentityProviderSchema,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { parentOf } from "../../../model/uid.ts";
import { type MethodEvent, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { identityProviderCollection } from "../../../storage/iam/collections.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import type { Recorded } from "../../kinds/kind.ts";
import { providerMessage } from "./identity-providers.ts";
import { issuedResponse, providerScim, reissuedResponse, revokedResponse, switchedResponse } from "./scim-tokens.ts";

const { createIdentityProvider, updateIdentityProvider, deleteIdentityProvider, ...scim } =
  IdentityProvidersService.method;

const recorded = { collection: identityProviderCollection, schema: IdentityProviderSchema };

/** How changes of identity providers and of their SCIM tokens are shown. */
export const recordedProviders: Recorded = {
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
