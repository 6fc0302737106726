import { ExternalGroupRoleMappings } from "../../gen/chainguard/platform/iam/v1/external_group_role_mappings_pb.ts";
import { ExternalGroupRoleMappingsService } from "../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import { same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import type { Names } from "./fields.ts";
import { list } from "./lists.ts";

const [v1, now] = [ExternalGroupRoleMappings.method, ExternalGroupRoleMappingsService.method];

const names: Names = {
  mapping: "external_group_role_mapping",
  identity_provider_uidp: "identity_provider_uid",
  role_uidp: "role_uid",
};

/** Serves the mappings of groups elsewhere to roles here as version 1 has them. */
export function externalGroupRoleMappings(today: Today): V1Implementation {
  return serve(ExternalGroupRoleMappings, {
    create: same(today, v1.create, now.createExternalGroupRoleMapping, { names }),
    get: same(today, v1.get, now.getExternalGroupRoleMapping, { names }),
    list: list(today, v1.list, now.listExternalGroupRoleMappings, { names }),
    delete: same(today, v1.delete, now.deleteExternalGroupRoleMapping),
    batchDelete: same(today, v1.batchDelete, now.batchDeleteExternalGroupRoleMappings, {
      names: { ids: "names" },
      replyNames: { ...names, items: "external_group_role_mappings" },
    }),
  });
}
