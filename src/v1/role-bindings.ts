import { GroupSchema } from "../../gen/chainguard/platform/iam/v1/groups_pb.ts";
import {
  type CreateRoleBindingBatchRequest,
  type RoleBindingList_Binding,
  RoleBindings,
  RoleBindingSchema as V1RoleBindingSchema,
} from "../../gen/chainguard/platform/iam/v1/role_bindings_pb.ts";
import { GroupSchema as NowGroupSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import {
  type RoleBindingIdentity,
  type RoleBindingRole,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { textLength } from "../aip/text-length.ts";
import { limits } from "../config/limits.ts";
import { namesOfNumbers } from "../model/capabilities.ts";
import { rootOf } from "../model/uid.ts";
import { groupMessage } from "../services/iam/groups/group-message.ts";
import { lookup } from "../services/iam/roles/hydration.ts";
import type { Session } from "../storage/engine/session.ts";
import { groupCollection, roleCollection } from "../storage/iam/collections.ts";
import { adapt, replace, same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import { correspond, type Names } from "./fields.ts";
import { list, tooLong } from "./lists.ts";
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

const shownGroup = correspond(GroupSchema, NowGroupSchema);

/** Serves role bindings as version 1 has them. */
export function roleBindings(today: Today): V1Implementation {
  const listed = list(today, v1.list, now.listRoleBindings, { itemNames });
  return serve(RoleBindings, {
    create: same(today, v1.create, now.createRoleBinding, { names, replyNames }),
    createBatch: createBatch(today),
    update: replace(today, v1.update, now.updateRoleBinding, { names, replyNames }),
    list: {
      ...listed,
      handle: (filter, call) =>
        today.readTogether(call, async (together, session) => {
          const { items = [] } = (await listed.handle(filter, together)) as { items?: RoleBindingList_Binding[] };
          await complete(session, items);
          return { items };
        }),
    },
    delete: same(today, v1.delete, now.deleteRoleBinding),
  });
}

/**
 * Shows all of the groups and roles of a list, of which today's lists have the names only: a group that is verified would seem not
 * to be, and a role to grant nothing. Throws when it is too much for a reply.
 */
async function complete(session: Session, items: readonly RoleBindingList_Binding[]): Promise<void> {
  const groups = lookup(session, groupCollection);
  const roles = lookup(session, roleCollection);
  let length = 0;
  for (const item of items) {
    const group = await groups(item.group!.id);
    const organization = await groups(rootOf(item.group!.id));
    if (group) item.group = shownGroup.toV1(groupMessage(group, organization));
    const role = await roles(item.role!.id);
    if (role) item.role!.capabilities = namesOfNumbers(role.capabilities);
    length += textLength(item.role!.capabilities);
    if (length > limits.v1ListLength) throw tooLong(now.listRoleBindings);
  }
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
  const adapted = adapt<typeof v1.createBatch.input, typeof v1.createBatch.output, typeof input, typeof output>(
    today,
    now.batchCreateRoleBindings,
    {
      request,
      answer: async (ask, message) => reply.toV1(await ask(request(message))),
      rename: ({ field, description }) =>
        rename({ field: field.replace(/^requests(\[\d+\])?(?:\.role_binding)?/, "role_bindings$1"), description }),
    },
  );
  return { ...adapted, event: { of: now.batchCreateRoleBindings, told: reply.toV1 } };
}
