import { create } from "@bufbuild/protobuf";
import {
  AccountAssociationSchema,
  AccountAssociationsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { GroupSchema, GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { AcceptTermsResponseSchema, TermsService } from "../../../../gen/chainguard/platform/iam/v2beta1/terms_pb.ts";
import { parentOf, rootOf } from "../../../model/uid.ts";
import { type MethodEvent, type ResourceEvents, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import {
  accountAssociationCollection,
  groupCollection,
  termsAcceptanceCollection,
} from "../../../storage/iam/collections.ts";
import type { TermsAcceptanceRow } from "../../../storage/iam/provider-rows.ts";
import type { AccountAssociationRow, GroupRow } from "../../../storage/iam/rows.ts";
import { associationMessage } from "../account-associations/account-associations.ts";
import { groupMessage } from "../groups/group-message.ts";

const { createGroup, updateGroup, deleteGroup } = GroupsService.method;
const { createAccountAssociation, updateAccountAssociation, deleteAccountAssociation } =
  AccountAssociationsService.method;

/** The group of an event about a resource that has the uid of its group. */
const sameUid = (uid: string) => uid;

const groups: ResourceEvents<typeof GroupSchema, GroupRow> = {
  collection: groupCollection,
  schema: GroupSchema,
  message: async (row, session) =>
    row.parent === null
      ? groupMessage(row)
      : groupMessage(row, (await findRow(session, groupCollection, rootOf(row.uid))) ?? row),
};

const associations: ResourceEvents<typeof AccountAssociationSchema, AccountAssociationRow> = {
  collection: accountAssociationCollection,
  schema: AccountAssociationSchema,
  message: associationMessage,
  group: sameUid,
};

/** Shows groups and account associations in the audit log. */
export const groupViews = [
  rowView(groups, (row: GroupRow) => groupMessage(row)),
  rowView(associations, associationMessage),
];

const acceptances: MethodEvent = {
  method: TermsService.method.acceptTerms,
  kind: termsAcceptanceCollection.kind,
  isBatch: true,
  group: parentOf,
  subject: ([uid]) => parentOf(uid!),
  body(changes) {
    const documentIds = changes.map(({ after }) => (after as TermsAcceptanceRow).name);
    return create(AcceptTermsResponseSchema, { group: parentOf(changes[0].uid), documentIds });
  },
};

/** The events of groups, account associations and accepted terms. */
export const groupEvents: readonly MethodEvent[] = [
  ...resourceEvents([createGroup, updateGroup], { ...groups, group: sameUid }),
  ...resourceEvents([deleteGroup], groups),
  ...resourceEvents([createAccountAssociation, updateAccountAssociation], associations),
  // Published contract: the event has no body.
  ...resourceEvents([deleteAccountAssociation], associations).map((event) => ({ ...event, body: () => undefined })),
  acceptances,
];
