import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type WhoAmI_Capability,
  WhoAmI_CapabilitySchema,
  type WhoAmISchema,
} from "../../../gen/chainguard/platform/auth/v1/auth_pb.ts";
import { GroupSchema, type OrgKind, type OrgStatus } from "../../../gen/chainguard/platform/iam/v1/groups_pb.ts";
import { RoleSchema } from "../../../gen/chainguard/platform/iam/v1/roles_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { namesOfNumbers } from "../../model/capabilities.ts";
import { rootOf } from "../../model/uid.ts";
import { accessOf, callerOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Session } from "../../storage/engine/session.ts";
import { groupCollection, roleCollection } from "../../storage/iam/collections.ts";
import { effectiveGroup } from "../../storage/iam/grants.ts";
import { findBindingsOf } from "../../storage/iam/role-bindings.ts";
import type { GroupRow, RoleRow } from "../../storage/iam/rows.ts";
import { lookup } from "../iam/role-bindings/hydration.ts";

/** The maximum number of bindings in the response. */
const maxBindings = 200;

/** Returns the claims of the token, and the capabilities that its identity holds within it. */
export async function whoAmI(
  session: Session,
  issuer: string,
  call: Call,
): Promise<MessageInitShape<typeof WhoAmISchema>> {
  const { uid, token } = callerOf(call);
  return {
    issuer,
    subject: uid,
    audience: [...token.audience],
    expiry: toTimestamp(token.expiresAt),
    issuedAt: toTimestamp(token.issuedAt),
    capabilities: await heldBy(session, uid, call),
    email: token.email,
  };
}

async function heldBy(session: Session, uid: string, call: Call) {
  const [groups, roles] = [lookup(session, groupCollection), lookup(session, roleCollection)];
  const shown: WhoAmI_Capability[] = [];
  for (const { parent, roleUid } of await findBindingsOf(session, "identityUid", uid, maxBindings)) {
    const place = effectiveGroup(uid, parent);
    const [group, role] = [place && (await groups(place)), await roles(roleUid)];
    if (!group || !role) continue;
    // A narrowed token gives less than the binding.
    const inForce = role.capabilities.filter((number) => accessOf(call).has(number, group.uid));
    const capabilities = namesOfNumbers(inForce);
    if (capabilities.length > 0)
      shown.push(
        create(WhoAmI_CapabilitySchema, {
          group: groupOf(group, (await groups(rootOf(group.uid))) ?? group),
          role: roleOf(role),
          capabilities,
        }),
      );
  }
  return shown;
}

function groupOf({ uid, name, description, resourceLimits, verified }: GroupRow, organization: GroupRow) {
  const [kind, status] = [organization.kind as OrgKind, organization.status as OrgStatus];
  return create(GroupSchema, { id: uid, name, description, resourceLimits, verified, kind, status });
}

function roleOf({ uid, name, description, capabilities }: RoleRow) {
  return create(RoleSchema, { id: uid, name, description, capabilities: namesOfNumbers(capabilities) });
}
