import {
  GroupInviteSchema,
  GroupInvitesService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { groupInviteCollection } from "../../../storage/iam/collections.ts";
import type { GroupInviteRow } from "../../../storage/iam/rows.ts";
import { absent, defineOtherKind, type Recorded } from "../../kinds/kind.ts";
import { groupInvites } from "./group-invites.ts";

const { createGroupInvite, deleteGroupInvite } = GroupInvitesService.method;

/** Shows an invite without anything that could help to accept it. */
const message = ({ uid, expirationTime }: GroupInviteRow) => ({ uid, expirationTime: toTimestamp(expirationTime) });

const recorded = { collection: groupInviteCollection, schema: GroupInviteSchema, message };

/** The recording of changes of group invites. */
const recordedInvites: Recorded = {
  views: [rowView(recorded, message)],
  events: () => resourceEvents([createGroupInvite, deleteGroupInvite], recorded),
};

/** Group invites. */
export const groupInviteKind = defineOtherKind({
  name: "groupInvite",
  schema: GroupInviteSchema,
  service: GroupInvitesService,
  collection: groupInviteCollection,
  implement: groupInvites,
  file: absent("The code of an invite is secret."),
  transfer: absent("group invites, whose codes are secret: create them again"),
  recorded: recordedInvites,
  deletedWithGroup: "invites",
});
