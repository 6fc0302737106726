import { create } from "@bufbuild/protobuf";
import {
  ExternalGroupRoleMappingSchema,
  ExternalGroupRoleMappingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import { ExternalGroupRoleMappingSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { externalGroupRoleMappingCollection } from "../../../storage/iam/collections.ts";
import { defineKind } from "../../kinds/kind.ts";
import { missingRole, missingTarget } from "../../kinds/missing.ts";
import { recordedMappings } from "./events.ts";
import { externalGroupRoleMappings } from "./external-group-role-mappings.ts";
import { externalGroupRoleMappingImport } from "./import.ts";

/** Mappings of external groups to roles. */
export const externalGroupRoleMappingKind = defineKind({
  name: "externalGroupRoleMapping",
  schema: ExternalGroupRoleMappingSchema,
  service: ExternalGroupRoleMappingsService,
  collection: externalGroupRoleMappingCollection,
  implement: externalGroupRoleMappings,
  transfer: [externalGroupRoleMappingImport],
  recorded: recordedMappings,
  file: {
    references: ["role", "identityProvider"],
    groupOf: () => "",
    nameOf({ identityProvider, externalGroupId, role }, names) {
      const key = JSON.stringify([identityProvider, externalGroupId, names.roleKey("", role)]);
      return { name: `${identityProvider}: ${externalGroupId} has ${role}`, key };
    },
    missing: ({ identityProvider, role }, names) => [
      ...missingTarget("identity_provider", "identityProvider", identityProvider, names),
      ...missingRole("role", role, "", names),
    ],
    toSpec: ({ parent, externalGroupId, roleUid }, names) =>
      create(ExternalGroupRoleMappingSpecSchema, {
        identityProvider: names.pathOf(parent),
        externalGroupId,
        role: names.roleReference("", roleUid),
      }),
    errorFields: { role_uid: "role" },
    toMessage: ({ externalGroupId, role }, uids) => ({
      externalGroupId,
      roleUid: uids.role("", role),
      scope: uids.group(""),
    }),
    parentOf: ({ identityProvider }, uids) => uids.identityProvider(identityProvider),
    namingFields: ["role"],
    deletedWith: "identityProvider",
  },
});
