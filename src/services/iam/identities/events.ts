import { IdentitiesService, IdentitySchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import type { Recorded } from "../../kinds/kind.ts";
import { identityMessage } from "./identities.ts";

const { createIdentity, updateIdentity, deleteIdentity } = IdentitiesService.method;

const recorded = { collection: identityCollection, schema: IdentitySchema, message: identityMessage };

/** How changes of identities are shown. */
export const recordedIdentities: Recorded = {
  views: [rowView(recorded, identityMessage)],
  events: () => resourceEvents([createIdentity, updateIdentity, deleteIdentity], recorded),
};
