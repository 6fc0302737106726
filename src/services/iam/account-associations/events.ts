import {
  AccountAssociationSchema,
  AccountAssociationsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { type ResourceEvents, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { accountAssociationCollection } from "../../../storage/iam/collections.ts";
import type { AccountAssociationRow } from "../../../storage/iam/rows.ts";
import type { Recorded } from "../../kinds/kind.ts";
import { associationMessage } from "./account-associations.ts";

const { createAccountAssociation, updateAccountAssociation, deleteAccountAssociation } =
  AccountAssociationsService.method;

const recorded: ResourceEvents<typeof AccountAssociationSchema, AccountAssociationRow> = {
  collection: accountAssociationCollection,
  schema: AccountAssociationSchema,
  message: associationMessage,
  // An association has the uid of its group.
  group: (uid) => uid,
};

/** How changes of account associations are shown. */
export const recordedAssociations: Recorded = {
  views: [rowView(recorded, associationMessage)],
  events: () => [
    ...resourceEvents([createAccountAssociation, updateAccountAssociation], recorded),
    // Published contract: the event has no body.
    ...resourceEvents([deleteAccountAssociation], recorded).map((event) => ({ ...event, body: () => undefined })),
  ],
};
