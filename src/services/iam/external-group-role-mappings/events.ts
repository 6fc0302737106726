import { create } from "@bufbuild/protobuf";
import {
  BatchDeleteExternalGroupRoleMappingsResponseSchema,
  ExternalGroupRoleMappingSchema,
  ExternalGroupRoleMappingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import { parentOf, rootOf } from "../../../model/uid.ts";
import { type MethodEvent, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { externalGroupRoleMappingCollection } from "../../../storage/iam/collections.ts";
import type { ExternalGroupRoleMappingRow } from "../../../storage/iam/provider-rows.ts";
import type { Recorded } from "../../kinds/kind.ts";
import { mappingMessage } from "./external-group-role-mappings.ts";

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

/** How changes of mappings of external groups are shown. */
export const recordedMappings: Recorded = {
  views: [rowView(recorded, mappingMessage)],
  events: () => [
    ...resourceEvents([createExternalGroupRoleMapping, deleteExternalGroupRoleMapping], {
      ...recorded,
      group: rootOf,
      identityProvider: parentOf,
    }),
    batchEvent,
  ],
};
