import { create } from "@bufbuild/protobuf";
import { Auth, SessionSchema } from "../../../gen/chainguard/platform/auth/v1/auth_pb.ts";
import { parentOf } from "../../model/uid.ts";
import type { MethodEvent } from "../../resource/method-event.ts";
import { roleBindingCollection } from "../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../storage/iam/rows.ts";

/** The events of users who join a group. A registration without an invite joins no group and causes no event. */
export const authEvents: readonly MethodEvent[] = [
  {
    method: Auth.method.register,
    kind: roleBindingCollection.kind,
    group: parentOf,
    subject: () => "",
    body([{ after }]) {
      const { identityUid: identity, parent: group } = after as RoleBindingRow;
      return create(SessionSchema, { identity, group });
    },
  },
];
