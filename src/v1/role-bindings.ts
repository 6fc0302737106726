import { GroupSchema } from "../../gen/chainguard/platform/iam/v1/groups_pb.ts";
import {
  type CreateRoleBindingBatchRequest,
  type RoleBindingList_Binding,
  RoleBindings,
  RoleBindingSchema as V1RoleBindingSchema,
} from "../../gen/chainguard/platform/iam/v1/role_bindings_pb.ts";
import { GroupSchema as CurrentGroupSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import {
  type RoleBindingIdentity,
  type RoleBindingRole,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { textLength } from "../aip/text-length.ts";
import { namesOfNumbers } from "../model/capabilities.ts";
import { rootOf } from "../model/uid.ts";
import type { Call } from "../pipeline/call.ts";
import { expensive } from "../pipeline/expensive.ts";
import { groupMessage } from "../services/iam/groups/group-message.ts";
import { lookup } from "../services/iam/role-bindings/hydration.ts";
import type { Session } from "../storage/engine/session.ts";
import { groupCollection, roleCollection } from "../storage/iam/collections.ts";
import { adapt, passThrough, putAsUpdate, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import { type FieldNames, mapMessages } from "./fields.ts";
import { v1Limits } from "./limits.ts";
import { list, tooLong } from "./lists.ts";
import { renamer } from "./violations.ts";

const [v1, current] = [RoleBindings.method, RoleBindingsService.method];

/** Request fields are uids. The group is always the parent. */
const names: FieldNames = { identity: "identity_uid", role: "role_uid", group: "" };

const uidOf = (field: string) => ({ current: field, toV1: ({ uid }: { uid: string }) => uid });

/** Current responses contain messages where those of version 1 contain uids. */
const responseNames: FieldNames = { identity: uidOf("identity"), group: uidOf("group"), role: uidOf("role") };

const shown = (field: string) => ({
  current: field,
  toV1: ({ uid, name, description }: RoleBindingRole) => ({ id: uid, name, description }),
});

const ofIdentity = (toV1: (identity: RoleBindingIdentity) => string) => ({ current: "identity", toV1 });

/** List items of version 1 contain the group, the role and some fields of the identity. */
const itemNames: FieldNames = {
  identity: uidOf("identity"),
  group: shown("group"),
  role: shown("role"),
  email: ofIdentity(({ email }) => email),
  claim_match_issuer: ofIdentity(({ issuer }) => issuer),
  claim_match_subject: ofIdentity(({ subject }) => subject),
  email_unverified: "",
};

const shownGroup = mapMessages(GroupSchema, CurrentGroupSchema);

/** Serves role bindings in version 1. */
export function roleBindings(api: CurrentApi): V1Implementation {
  const listed = list(api, v1.list, current.listRoleBindings, { itemNames });
  return serve(RoleBindings, {
    create: passThrough(api, v1.create, current.createRoleBinding, { names, responseNames }),
    createBatch: createBatch(api),
    update: putAsUpdate(api, v1.update, current.updateRoleBinding, { names, responseNames }),
    list: {
      ...listed,
      handle: expensive((filter: Parameters<typeof listed.handle>[0], call: Call) =>
        api.readTogether(call, async (together, session) => {
          const { items = [] } = (await listed.handle(filter, together)) as { items?: RoleBindingList_Binding[] };
          await complete(session, items);
          return { items };
        }),
      ),
    },
    delete: passThrough(api, v1.delete, current.deleteRoleBinding),
  });
}

/**
 * Adds all fields of groups and roles to the items of a list. Current lists contain their names only, without `verified` and
 * capabilities. Throws if the response would be too long.
 */
async function complete(session: Session, items: readonly RoleBindingList_Binding[]): Promise<void> {
  const groups = lookup(session, groupCollection);
  const roles = lookup(session, roleCollection);
  let length = 0;
  for (const item of items) {
    // A group or role without a name in the current list may not be read by the caller.
    const group = item.group!.name === "" ? undefined : await groups(item.group!.id);
    const organization = await groups(rootOf(item.group!.id));
    if (group) item.group = shownGroup.toV1(groupMessage(group, organization));
    const role = item.role!.name === "" ? undefined : await roles(item.role!.id);
    if (role) item.role!.capabilities = namesOfNumbers(role.capabilities);
    length += textLength(item.role!.capabilities);
    if (length > v1Limits.v1ListLength) throw tooLong(current.listRoleBindings);
  }
}

/** Adapts batches: items are bindings in version 1, and requests in the current API. */
function createBatch(api: CurrentApi) {
  const { input, output } = current.batchCreateRoleBindings;
  const binding = mapMessages(V1RoleBindingSchema, RoleBindingSchema, names);
  const response = mapMessages(v1.createBatch.output, output, responseNames);
  const rename = renamer([...binding.renamed, ["requests", "role_bindings"]]);
  const request = ({ parent, roleBindings: bindings }: CreateRoleBindingBatchRequest) => ({
    parent,
    requests: bindings.map((value) => ({ roleBinding: binding.toCurrent(value) })),
  });
  const adapted = adapt<typeof v1.createBatch.input, typeof v1.createBatch.output, typeof input, typeof output>(
    api,
    current.batchCreateRoleBindings,
    {
      request,
      respond: async (callCurrent, message) => response.toV1(await callCurrent(request(message))),
      rename: ({ field, description }) =>
        rename({ field: field.replace(/^requests(\[\d+\])?(?:\.role_binding)?/, "role_bindings$1"), description }),
    },
  );
  return { ...adapted, event: { of: current.batchCreateRoleBindings, toV1Event: response.toV1 } };
}
