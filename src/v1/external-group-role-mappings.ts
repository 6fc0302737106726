import { ExternalGroupRoleMappings } from "../../gen/chainguard/platform/iam/v1/external_group_role_mappings_pb.ts";
import { ExternalGroupRoleMappingsService } from "../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import { passThrough, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import type { FieldNames } from "./fields.ts";
import { list } from "./lists.ts";

const [v1, current] = [ExternalGroupRoleMappings.method, ExternalGroupRoleMappingsService.method];

const names: FieldNames = {
  mapping: "external_group_role_mapping",
  identity_provider_uidp: "identity_provider_uid",
  role_uidp: "role_uid",
};

/** Serves external group role mappings in version 1. */
export function externalGroupRoleMappings(api: CurrentApi): V1Implementation {
  return serve(ExternalGroupRoleMappings, {
    create: passThrough(api, v1.create, current.createExternalGroupRoleMapping, { names }),
    get: passThrough(api, v1.get, current.getExternalGroupRoleMapping, { names }),
    list: list(api, v1.list, current.listExternalGroupRoleMappings, { names }),
    delete: passThrough(api, v1.delete, current.deleteExternalGroupRoleMapping),
    batchDelete: passThrough(api, v1.batchDelete, current.batchDeleteExternalGroupRoleMappings, {
      names: { ids: "names" },
      responseNames: { ...names, items: "external_group_role_mappings" },
    }),
  });
}
