import { create } from "@bufbuild/protobuf";
import {
  GroupInviteSchema,
  GroupInvitesService,
} from "../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { IdentitiesService, IdentitySchema } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import {
  BatchCreateRoleBindingsResponseSchema,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RoleSchema, RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { type MethodEvent, resourceEvents } from "../../resource/method-event.ts";
import { parentOf } from "../../uid.ts";
import { hydrate } from "./hydration.ts";
import { identityMessage } from "./identities.ts";
import { roleMessage } from "./roles.ts";
import {
  type GroupInviteRow,
  groupInviteCollection,
  identityCollection,
  type RoleBindingRow,
  roleBindingCollection,
  roleCollection,
} from "./rows.ts";

const identities = IdentitiesService.method;
const roles = RolesService.method;
const bindings = RoleBindingsService.method;
const invites = GroupInvitesService.method;

const batchOfBindings: MethodEvent = {
  method: bindings.batchCreateRoleBindings,
  kind: roleBindingCollection.kind,
  isBatch: true,
  group: parentOf,
  subject: ([uid]) => parentOf(uid!),
  async body(changes, session) {
    const rows = changes.map(({ after }) => after as RoleBindingRow);
    return create(BatchCreateRoleBindingsResponseSchema, { roleBindings: await hydrate(session, rows) });
  },
};

/** The events of who may do what. */
export const accessEvents: readonly MethodEvent[] = [
  ...resourceEvents([identities.createIdentity, identities.updateIdentity, identities.deleteIdentity], {
    collection: identityCollection,
    schema: IdentitySchema,
    message: identityMessage,
  }),
  ...resourceEvents([roles.createRole, roles.updateRole, roles.deleteRole], {
    collection: roleCollection,
    schema: RoleSchema,
    message: roleMessage,
  }),
  ...resourceEvents([bindings.createRoleBinding, bindings.updateRoleBinding, bindings.deleteRoleBinding], {
    collection: roleBindingCollection,
    schema: RoleBindingSchema,
    message: async (row: RoleBindingRow, session) => (await hydrate(session, [row]))[0]!,
  }),
  batchOfBindings,
  // An invite is told of without anything that could help to accept it.
  ...resourceEvents([invites.createGroupInvite, invites.deleteGroupInvite], {
    collection: groupInviteCollection,
    schema: GroupInviteSchema,
    message: ({ uid, expirationTime }: GroupInviteRow) => ({ uid, expirationTime: toTimestamp(expirationTime) }),
  }),
];
