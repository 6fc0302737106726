import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import {
  type GroupInvite,
  GroupInviteSchema,
  GroupInvitesService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import type { FieldViolation } from "../../../aip/errors.ts";
import { maskNames } from "../../../aip/field-mask.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { isCapability } from "../../../model/capabilities.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import type { TextRule } from "../../../pipeline/text-rules.ts";
import { requestMask } from "../../../resource/apply-update.ts";
import { type MakeItems, rowsThatFit } from "../../../resource/list-page.ts";
import { tagResponse } from "../../../resource/read-methods.ts";
import { defineResource, roleOrders } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { standardMethods } from "../../../resource/standard-methods.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { groupInviteCollection, roleCollection } from "../../../storage/iam/collections.ts";
import type { GroupInviteRow, RoleRow } from "../../../storage/iam/rows.ts";
import { groupParents } from "../groups/groups.ts";
import { lookup } from "../role-bindings/hydration.ts";
import { withMaker } from "../rules/escalation.ts";
import { isReadableRole } from "../rules/readable.ts";
import { requireUsableRole } from "../rules/usable-role.ts";
import { newInviteCode } from "./invite-code.ts";

/** The maximum lifetime of an invite: one year. */
const maxTtlMs = 8760 * 60 * 60 * 1000;

/** A bare address without name and angle brackets. RFC 5321 §4.5.3.1.3 allows 256 octets including the brackets. */
const emailRule: TextRule = {
  test: (text) => text.length <= 254 && /^[^@\s\0<>"(),:;\\[\]]+@[^@\s\0<>"(),:;\\[\]]+$/.test(text),
  description: "must be a bare e-mail address of at most 254 characters",
  maxLength: 254,
};

/** The columns of the code and of its expiry. */
type CodeColumns = "keyId" | "codeDigest" | "expirationTime";

const groupInvite = defineResource<typeof GroupInviteSchema, GroupInviteRow, CodeColumns>({
  schema: GroupInviteSchema,
  plural: "groupInvites",
  collection: groupInviteCollection,
  orderable: roleOrders,
  defaultOrder: { field: "createTime", descending: true },
  rules: { email: emailRule },
  check: checkTtl,
  toMessage: (row) => inviteMessage(row, undefined),
  toRow: ({ roleUid, email, singleUse }) => ({ roleUid, recipient: email, singleUse }),
});

/** Makes the function that inserts an invite in a transaction. It returns the message with the code, which is never shown again. */
export function inviteMaker(context: ServiceContext) {
  const standard = standardMethods(groupInvite, groupParents, context);
  return async (tx: Transaction, parent: string, value: GroupInvite, role: RoleRow | undefined) => {
    const { code, keyId, digest } = newInviteCode();
    const expirationTime = tx.context.time + durationMs(value.ttl!);
    const row = await standard.insert(tx, parent, value, { keyId, codeDigest: digest, expirationTime });
    return { ...inviteMessage(row, role), code };
  };
}

/** Shows invites. Of a role that the caller cannot read, only the uid is shown. */
async function toMessages(session: Session, rows: readonly GroupInviteRow[], call: Call) {
  const roles = lookup(session, roleCollection);
  const roleOf = ({ roleUid, parent }: GroupInviteRow) =>
    isReadableRole(roleUid, parent, call) ? roles(roleUid) : undefined;
  return await Promise.all(rows.map(async (row) => inviteMessage(row, await roleOf(row))));
}

/** Serves group invites. Responses contain the role. Only the response of a creation contains the code. */
export function groupInvites(context: ServiceContext): Implementation {
  const standard = standardMethods(groupInvite, groupParents, context);
  const makeInvite = inviteMaker(context);
  const { database, clock } = context;

  return implement(
    GroupInvitesService,
    {
      getGroupInvite: async ({ uid }, call) =>
        await database.read(async (session) => {
          const row = await standard.find(session, uid);
          tagResponse(call, groupInviteCollection, row);
          return (await toMessages(session, [row], call))[0]!;
        }),
      async listGroupInvites(request, call) {
        const makeItems: MakeItems<GroupInviteRow, Invite> = (session, rows) =>
          toMessages(session, rowsThatFit(session, rows), call);
        const { items, ...envelope } = await standard.page(
          request,
          call,
          { keyId: request.keyId },
          undefined,
          makeItems,
        );
        return { ...envelope, groupInvites: [...items] };
      },
      async createGroupInvite({ parent, groupInvite: value }, call) {
        return await database.write(writeContext(call, clock), async (tx) => {
          const role = await requireUsableRole(tx, value!.roleUid, parent, call, withMaker);
          return await makeInvite(tx, parent, value!, isReadableRole(role.uid, parent, call) ? role : undefined);
        });
      },
      async updateGroupInvite({ groupInvite: value, updateMask }, call) {
        const isRenewed = value!.ttl && maskNames(requestMask(GroupInviteSchema, value!, updateMask), "ttl");
        return await database.write(writeContext(call, clock), async (tx) => {
          const row = await standard.change(tx, value!, updateMask, async (before, after) => {
            // The identity that updates an invite becomes its maker.
            await requireUsableRole(tx, after.roleUid, before.parent, call, withMaker);
            return isRenewed ? { ...after, expirationTime: tx.context.time + durationMs(value!.ttl!) } : after;
          });
          return (await toMessages(tx, [row], call))[0]!;
        });
      },
      deleteGroupInvite: (request, call) => standard.delete(request, call),
    },
    groupInvite.messageRules,
  );
}

function checkTtl({ ttl }: GroupInvite): FieldViolation[] {
  if (!ttl || (durationMs(ttl) >= 1 && durationMs(ttl) <= maxTtlMs)) return [];
  return [{ field: "ttl", description: "must be more than 0 and at most 8760 hours" }];
}

type Invite = MessageInitShape<typeof GroupInviteSchema>;

function inviteMessage(row: GroupInviteRow, role: RoleRow | undefined): Invite {
  const { uid, roleUid, recipient: email, singleUse, keyId } = row;
  const expirationTime = toTimestamp(row.expirationTime);
  const createTime = toTimestamp(row.createTime);
  const message = { uid, roleUid, email, singleUse, keyId, expirationTime, createTime };
  return role ? { ...message, role: inviteRole(role) } : message;
}

function inviteRole({ uid, name, description, capabilities }: RoleRow) {
  return { uid, name, description, capabilities: capabilities.filter(isCapability) };
}
