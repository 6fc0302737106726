import { create } from "@bufbuild/protobuf";
import {
  BatchDeleteExternalGroupRoleMappingsResponseSchema,
  ExternalGroupRoleMappingSchema,
  ExternalGroupRoleMappingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import { ExternalGroupRoleMappingSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { parentOf, rootOf } from "../../../model/uid.ts";
import { type MethodEvent, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { textOf, uidIn, withParts } from "../../../resource/sentence-form.ts";
import { externalGroupRoleMappingCollection } from "../../../storage/iam/collections.ts";
import type { ExternalGroupRoleMappingRow } from "../../../storage/iam/provider-rows.ts";
import { defineKind, type Recorded } from "../../kinds/kind.ts";
import { missingRole, missingTarget } from "../../kinds/missing.ts";
import { externalGroupRoleMappings, mappingMessage } from "./external-group-role-mappings.ts";
import { externalGroupRoleMappingImport } from "./import.ts";

const { createExternalGroupRoleMapping, deleteExternalGroupRoleMapping, batchDeleteExternalGroupRoleMappings } =
  ExternalGroupRoleMappingsService.method;

const recorded = {
  collection: externalGroupRoleMappingCollection,
  schema: ExternalGroupRoleMappingSchema,
  message: mappingMessage,
};

const batchEvent: MethodEvent = {
  method: batchDeleteExternalGroupRoleMappings,
  kind: externalGroupRoleMappingCollection.kind,
  isBatch: true,
  group: rootOf,
  subject: ([uid]) => parentOf(uid!),
  identityProvider: parentOf,
  body(changes) {
    const rows = changes.map(({ before }) => before as ExternalGroupRoleMappingRow);
    return create(BatchDeleteExternalGroupRoleMappingsResponseSchema, {
      parent: parentOf(changes[0].uid),
      externalGroupRoleMappings: rows.map(mappingMessage),
    });
  },
};

/** The recording of changes of mappings of external groups. */
const recordedMappings: Recorded = {
  views: [
    rowView(
      recorded,
      mappingMessage,
      withParts({
        provider: uidIn("identityProviderUid"),
        externalGroup: ({ externalGroupId }) => ({ name: textOf(externalGroupId) }),
        role: uidIn("roleUid"),
      }),
    ),
  ],
  events: () => [
    ...resourceEvents([createExternalGroupRoleMapping, deleteExternalGroupRoleMapping], {
      ...recorded,
      group: rootOf,
      identityProvider: parentOf,
    }),
    batchEvent,
  ],
};

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
