import { create } from "@bufbuild/protobuf";
import {
  type GroupInviteRequest,
  GroupInvites,
  GroupInviteSchema as V1GroupInviteSchema,
} from "../../gen/chainguard/platform/iam/v1/group_invites_pb.ts";
import { GroupInviteSchema, GroupInvitesService } from "../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { GroupSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import { correspond, type Names, reversed } from "./fields.ts";
import { groupWithInvite } from "./group-with-invite.ts";
import { list } from "./lists.ts";
import { roleNames } from "./roles.ts";
import { renamer, renaming } from "./violations.ts";

const [v1, now] = [GroupInvites.method, GroupInvitesService.method];

/** What invites show: their role by its friendly names. */
const shownNames: Names = { ...roleNames, expiration: "expiration_time", role: "role" };

/** What is asked for names the role. */
const askedNames: Names = { group: "parent", role: "role_uid" };

const invite = correspond(V1GroupInviteSchema, GroupInviteSchema, shownNames);

/** Serves group invites as version 1 has them. */
export function groupInvites(today: Today, context: ServiceContext): V1Implementation {
  const makeBoth = groupWithInvite(today, context);
  return serve(GroupInvites, {
    create: same(today, v1.create, now.createGroupInvite, {
      names: askedNames,
      replyNames: shownNames,
      request: (message) => ({ parent: message.group, groupInvite: inviteOf(message) }),
    }),
    createWithGroup: (message, call) =>
      renaming(renamer([...reversed(askedNames), ["name", "group"]]), async () => {
        const group = create(GroupSchema, { name: message.group });
        return invite.toV1(create(GroupInviteSchema, await makeBoth(group, inviteOf(message), call)));
      }),
    list: list(today, v1.list, now.listGroupInvites, {
      itemNames: shownNames,
      places: { id: "ids", group: "children_of" },
    }),
    delete: same(today, v1.delete, now.deleteGroupInvite),
  });
}

function inviteOf({ ttl, role, email, singleUse }: GroupInviteRequest) {
  return create(GroupInviteSchema, { roleUid: role, email, singleUse, ...(ttl && { ttl }) });
}
