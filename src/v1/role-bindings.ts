import {
  type CreateRoleBindingBatchRequest,
  RoleBindings,
  RoleBindingSchema as V1RoleBindingSchema,
} from "../../gen/chainguard/platform/iam/v1/role_bindings_pb.ts";
import {
  type RoleBindingIdentity,
  type RoleBindingRole,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { adapt, replace, same, serve, type V1Implementation } from "./adapter.ts";
import { correspond, type Names } from "./fields.ts";
import { list } from "./lists.ts";
import type { Today } from "./today.ts";
import { renamer } from "./violations.ts";

const [v1, now] = [RoleBindings.method, RoleBindingsService.method];

/** Requests name what is bound. The group is that of the parent, whatever a request says. */
const names: Names = { identity: "identity_uid", role: "role_uid", group: "" };

const uidOf = (field: string) => ({ now: field, toV1: ({ uid }: { uid: string }) => uid });

/** Today's replies show what is bound, those of version 1 name it. */
const replyNames: Names = { identity: uidOf("identity"), group: uidOf("group"), role: uidOf("role") };

const shown = (field: string) => ({
  now: field,
  toV1: ({ uid, name, description }: RoleBindingRole) => ({ id: uid, name, description }),
});

const ofIdentity = (toV1: (identity: RoleBindingIdentity) => string) => ({ now: "identity", toV1 });

/** Lists of version 1 show the group and the role, and some of the identity. */
const itemNames: Names = {
  identity: uidOf("identity"),
  group: shown("group"),
  role: shown("role"),
  email: ofIdentity(({ email }) => email),
  claim_match_issuer: ofIdentity(({ issuer }) => issuer),
  claim_match_subject: ofIdentity(({ subject }) => subject),
  email_unverified: "",
};

/** Serves role bindings as version 1 has them. */
export function roleBindings(today: Today): V1Implementation {
  return serve(RoleBindings, {
    create: same(today, v1.create, now.createRoleBinding, { names, replyNames }),
    createBatch: createBatch(today),
    update: replace(today, v1.update, now.updateRoleBinding, { names, replyNames }),
    list: list(today, v1.list, now.listRoleBindings, { itemNames }),
    delete: same(today, v1.delete, now.deleteRoleBinding),
  });
}

/** Items of a batch of version 1 are the bindings themselves; today each is a request. */
function createBatch(today: Today) {
  const { input, output } = now.batchCreateRoleBindings;
  const binding = correspond(V1RoleBindingSchema, RoleBindingSchema, names);
  const reply = correspond(v1.createBatch.output, output, replyNames);
  const rename = renamer([...binding.renamed, ["requests", "role_bindings"]]);
  const request = ({ parent, roleBindings: bindings }: CreateRoleBindingBatchRequest) => ({
    parent,
    requests: bindings.map((value) => ({ roleBinding: binding.toNow(value) })),
  });
  return adapt<typeof v1.createBatch.input, typeof v1.createBatch.output, typeof input, typeof output>(
    today,
    now.batchCreateRoleBindings,
    {
      request,
      answer: async (ask, message) => reply.toV1(await ask(request(message))),
      rename: ({ field, description }) =>
        rename({ field: field.replace(/^requests(\[\d+\])?(?:\.role_binding)?/, "role_bindings$1"), description }),
    },
  );
}
