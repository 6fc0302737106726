import {
  GroupInviteSchema,
  GroupInvitesService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { groupInviteCollection } from "../../../storage/iam/collections.ts";
import type { GroupInviteRow } from "../../../storage/iam/rows.ts";
import type { Recorded } from "../../kinds/kind.ts";

const { createGroupInvite, deleteGroupInvite } = GroupInvitesService.method;

/** Shows an invite without anything that could help to accept it. */
const message = ({ uid, expirationTime }: GroupInviteRow) => ({ uid, expirationTime: toTimestamp(expirationTime) });

const recorded = { collection: groupInviteCollection, schema: GroupInviteSchema, message };

/** How changes of group invites are shown. */
export const recordedInvites: Recorded = {
  views: [rowView(recorded, message)],
  events: () => resourceEvents([createGroupInvite, deleteGroupInvite], recorded),
};
