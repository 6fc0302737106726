import { create } from "@bufbuild/protobuf";
import {
  type GroupInviteRequest,
  GroupInvites,
  GroupInviteSchema as V1GroupInviteSchema,
} from "../../gen/chainguard/platform/iam/v1/group_invites_pb.ts";
import { GroupInviteSchema, GroupInvitesService } from "../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { GroupSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { passThrough, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import { type FieldNames, mapMessages, reversed } from "./fields.ts";
import { groupWithInvite } from "./group-with-invite.ts";
import { list } from "./lists.ts";
import { roleNames } from "./roles.ts";
import { renamer, renaming } from "./violations.ts";

const [v1, current] = [GroupInvites.method, GroupInvitesService.method];

/** Names of response fields. The role has capabilities by friendly names. */
const responseFieldNames: FieldNames = { ...roleNames, expiration: "expiration_time", role: "role" };

/** Names of request fields. */
const requestFieldNames: FieldNames = { group: "parent", role: "role_uid" };

const invite = mapMessages(V1GroupInviteSchema, GroupInviteSchema, responseFieldNames);

/** Serves group invites in version 1. */
export function groupInvites(api: CurrentApi, context: ServiceContext): V1Implementation {
  const makeBoth = groupWithInvite(api, context);
  return serve(GroupInvites, {
    create: passThrough(api, v1.create, current.createGroupInvite, {
      names: requestFieldNames,
      responseNames: responseFieldNames,
      request: (message) => ({ parent: message.group, groupInvite: inviteOf(message) }),
    }),
    createWithGroup: (message, call) =>
      renaming(renamer([...reversed(requestFieldNames), ["name", "group"]]), async () => {
        const group = create(GroupSchema, { name: message.group });
        return invite.toV1(create(GroupInviteSchema, await makeBoth(group, inviteOf(message), call)));
      }),
    list: list(api, v1.list, current.listGroupInvites, {
      itemNames: responseFieldNames,
      places: { id: "ids", group: "children_of" },
    }),
    delete: passThrough(api, v1.delete, current.deleteGroupInvite),
  });
}

function inviteOf({ ttl, role, email, singleUse }: GroupInviteRequest) {
  return create(GroupInviteSchema, { roleUid: role, email, singleUse, ...(ttl && { ttl }) });
}
