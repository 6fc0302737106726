import { create } from "@bufbuild/protobuf";
import { RoleSchema, RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { RoleSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { findCapabilityByName, namesOfNumbers } from "../../../model/capabilities.ts";
import { parentOf } from "../../../model/uid.ts";
import { resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { roleCollection } from "../../../storage/iam/collections.ts";
import { defineKind, type Recorded } from "../../kinds/kind.ts";
import { roleImport } from "./import.ts";
import { roleMessage, roles } from "./roles.ts";

const { createRole, updateRole, deleteRole } = RolesService.method;

const recorded = { collection: roleCollection, schema: RoleSchema, message: roleMessage };

/** The recording of changes of roles. */
const recordedRoles: Recorded = {
  views: [rowView(recorded, roleMessage)],
  events: () => resourceEvents([createRole, updateRole, deleteRole], recorded),
};

/** Roles. */
export const roleKind = defineKind({
  name: "role",
  schema: RoleSchema,
  service: RolesService,
  collection: roleCollection,
  implement: roles,
  transfer: [roleImport],
  recorded: recordedRoles,
  file: {
    references: [],
    isTarget: true,
    check: ({ capabilities }) =>
      capabilities.flatMap((name, at) => {
        if (findCapabilityByName(name)) return [];
        const description = `${JSON.stringify(name.slice(0, 100))} is not the name of a capability`;
        return [{ field: `capabilities[${at}]`, description }];
      }),
    toSpec({ uid, name, description, capabilities }, names) {
      const group = names.pathOf(parentOf(uid));
      return create(RoleSpecSchema, { group, name, description, capabilities: namesOfNumbers(capabilities).sort() });
    },
    toMessage: ({ name, description, capabilities }) => ({
      name,
      description,
      capabilities: [...new Set(capabilities)].map(numberOf),
    }),
    comparable: (json, { capabilities }) => ({ ...json, capabilities: [...new Set(capabilities)].sort() }),
    createsAlongside: () => true,
    isDeletedAlongside: true,
  },
});

/** An unknown name becomes a number without a capability, which the rules of roles reject. */
function numberOf(capability: string): number {
  return findCapabilityByName(capability)?.number ?? 0;
}
