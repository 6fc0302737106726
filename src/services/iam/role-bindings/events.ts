import { create } from "@bufbuild/protobuf";
import {
  BatchCreateRoleBindingsResponseSchema,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { parentOf } from "../../../model/uid.ts";
import { type MethodEvent, type ResourceEvents, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import type { Recorded } from "../../kinds/kind.ts";
import { hydrate } from "./hydration.ts";

const { createRoleBinding, updateRoleBinding, deleteRoleBinding, batchCreateRoleBindings } = RoleBindingsService.method;

const recorded: ResourceEvents<typeof RoleBindingSchema, RoleBindingRow> = {
  collection: roleBindingCollection,
  schema: RoleBindingSchema,
  message: async (row, session) => (await hydrate(session, [row]))[0]!,
};

const batchEvent: MethodEvent = {
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

/** How changes of role bindings are shown. */
export const recordedRoleBindings: Recorded = {
  views: [
    rowView(recorded, ({ uid, identityUid, parent, roleUid, createTime }: RoleBindingRow) => ({
      uid,
      identity: { uid: identityUid },
      group: { uid: parent },
      role: { uid: roleUid },
      createTime: toTimestamp(createTime),
    })),
  ],
  events: () => [...resourceEvents([createRoleBinding, updateRoleBinding, deleteRoleBinding], recorded), batchEvent],
};
