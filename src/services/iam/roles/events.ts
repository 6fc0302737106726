import { RoleSchema, RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { roleCollection } from "../../../storage/iam/collections.ts";
import type { Recorded } from "../../kinds/kind.ts";
import { roleMessage } from "./roles.ts";

const { createRole, updateRole, deleteRole } = RolesService.method;

const recorded = { collection: roleCollection, schema: RoleSchema, message: roleMessage };

/** How changes of roles are shown. */
export const recordedRoles: Recorded = {
  views: [rowView(recorded, roleMessage)],
  events: () => resourceEvents([createRole, updateRole, deleteRole], recorded),
};
