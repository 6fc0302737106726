import { create } from "@bufbuild/protobuf";
import {
  GroupInviteSchema,
  GroupInvitesService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { IdentitiesService, IdentitySchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import {
  BatchCreateRoleBindingsResponseSchema,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RoleSchema, RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { parentOf } from "../../../model/uid.ts";
import { type MethodEvent, type ResourceEvents, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import {
  groupInviteCollection,
  identityCollection,
  roleBindingCollection,
  roleCollection,
} from "../../../storage/iam/collections.ts";
import type { GroupInviteRow, RoleBindingRow } from "../../../storage/iam/rows.ts";
import { identityMessage } from "../identities/identities.ts";
import { hydrate } from "../role-bindings/hydration.ts";
import { roleMessage } from "../roles/roles.ts";

const { createIdentity, updateIdentity, deleteIdentity } = IdentitiesService.method;
const { createRole, updateRole, deleteRole } = RolesService.method;
const { createRoleBinding, updateRoleBinding, deleteRoleBinding, batchCreateRoleBindings } = RoleBindingsService.method;
const { createGroupInvite, deleteGroupInvite } = GroupInvitesService.method;

const identities = { collection: identityCollection, schema: IdentitySchema, message: identityMessage };
const roles = { collection: roleCollection, schema: RoleSchema, message: roleMessage };

const bindings: ResourceEvents<typeof RoleBindingSchema, RoleBindingRow> = {
  collection: roleBindingCollection,
  schema: RoleBindingSchema,
  message: async (row, session) => (await hydrate(session, [row]))[0]!,
};

/** Events show an invite without anything that could help to accept it. */
const inviteMessage = ({ uid, expirationTime }: GroupInviteRow) => ({
  uid,
  expirationTime: toTimestamp(expirationTime),
});

const invites: ResourceEvents<typeof GroupInviteSchema, GroupInviteRow> = {
  collection: groupInviteCollection,
  schema: GroupInviteSchema,
  message: inviteMessage,
};

/** Shows identities, roles, role bindings and invites in the audit log. */
export const accessViews = [
  rowView(identities, identityMessage),
  rowView(roles, roleMessage),
  rowView(bindings, ({ uid, identityUid, parent, roleUid, createTime }: RoleBindingRow) => ({
    uid,
    identity: { uid: identityUid },
    group: { uid: parent },
    role: { uid: roleUid },
    createTime: toTimestamp(createTime),
  })),
  rowView(invites, inviteMessage),
];

const batchOfBindings: MethodEvent = {
  method: batchCreateRoleBindings,
  kind: roleBindingCollection.kind,
  isBatch: true,
  group: parentOf,
  subject: ([uid]) => parentOf(uid!),
  async body(changes, session) {
    const rows = changes.map(({ after }) => after as RoleBindingRow);
    return create(BatchCreateRoleBindingsResponseSchema, { roleBindings: await hydrate(session, rows) });
  },
};

/** The events of identities, roles, role bindings and invites. */
export const accessEvents: readonly MethodEvent[] = [
  ...resourceEvents([createIdentity, updateIdentity, deleteIdentity], identities),
  ...resourceEvents([createRole, updateRole, deleteRole], roles),
  ...resourceEvents([createRoleBinding, updateRoleBinding, deleteRoleBinding], bindings),
  batchOfBindings,
  ...resourceEvents([createGroupInvite, deleteGroupInvite], invites),
];
