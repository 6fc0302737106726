import { Groups } from "../../gen/chainguard/platform/iam/v1/groups_pb.ts";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { replace, same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import { list } from "./lists.ts";

const [v1, now] = [Groups.method, GroupsService.method];

/** Serves groups as version 1 has them. */
export function groups(today: Today): V1Implementation {
  return serve(Groups, {
    create: same(today, v1.create, now.createGroup),
    update: replace(today, v1.update, now.updateGroup),
    list: list(today, v1.list, now.listGroups),
    delete: same(today, v1.delete, now.deleteGroup),
    lookupGroup: same(today, v1.lookupGroup, now.lookupGroup),
    requestGroupAccess: same(today, v1.requestGroupAccess, now.requestGroupAccess, {
      names: { group_id: "group_uid" },
    }),
    checkEligibility: same(today, v1.checkEligibility, now.checkEligibility),
  });
}
