import { GroupInvitesService } from "../../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { groupInviteCollection } from "../../../storage/iam/collections.ts";
import type { DeletedKind } from "../../kinds/kind.ts";
import { groupInvites } from "./group-invites.ts";

/** Group invites. No file has them: their codes are secret. */
export const groupInviteKind: DeletedKind = {
  noun: "invites",
  collection: groupInviteCollection,
  deletion: GroupInvitesService.method.deleteGroupInvite,
  implement: groupInvites,
};
