import {
  GroupInviteSchema,
  GroupInvitesService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { groupInviteCollection } from "../../../storage/iam/collections.ts";
import { absent, defineOtherKind } from "../../kinds/kind.ts";
import { recordedInvites } from "./events.ts";
import { groupInvites } from "./group-invites.ts";

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
