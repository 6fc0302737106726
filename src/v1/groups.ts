import { Groups } from "../../gen/chainguard/platform/iam/v1/groups_pb.ts";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { passThrough, putAsUpdate, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import { list } from "./lists.ts";

const [v1, current] = [Groups.method, GroupsService.method];

/** Serves groups in version 1. */
export function groups(api: CurrentApi): V1Implementation {
  return serve(Groups, {
    create: passThrough(api, v1.create, current.createGroup),
    update: putAsUpdate(api, v1.update, current.updateGroup),
    list: list(api, v1.list, current.listGroups),
    delete: passThrough(api, v1.delete, current.deleteGroup),
    lookupGroup: passThrough(api, v1.lookupGroup, current.lookupGroup),
    requestGroupAccess: passThrough(api, v1.requestGroupAccess, current.requestGroupAccess, {
      names: { group_id: "group_uid" },
    }),
    checkEligibility: passThrough(api, v1.checkEligibility, current.checkEligibility),
  });
}
