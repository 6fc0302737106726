// Removes a person from an organization at the request of a caller who may delete role bindings, and says what is lost.
import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import type {
  RemoveMemberRequest,
  RemoveMemberResponseSchema,
} from "../../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import {
  ApiError,
  aborted,
  failedPrecondition,
  invalidField,
  notFound,
  permissionDenied,
} from "../../../aip/errors.ts";
import { compareTexts } from "../../../base/compare-texts.ts";
import { isWithin, rootOf } from "../../../model/uid.ts";
import { accessOf, requireCapability, scopeOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { findBindingsIn, isMember, type Membership } from "../../../storage/iam/memberships.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { mayListBindings } from "../rules/readable.ts";
import { acceptByCall } from "../users/membership.ts";
import { isUserUid } from "../users/user-uid.ts";
import { endMembership, endSessions } from "./leave.ts";
import { observeLoss } from "./loss.ts";

/** How many role bindings one call deletes: others wait for its transaction. */
const maxBindings = 1_000;

const capability = Capability.CAP_IAM_ROLE_BINDINGS_DELETE;

/** Makes the function that removes a person from an organization. */
export function removeMember({ database, clock }: ServiceContext) {
  return async (
    request: RemoveMemberRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof RemoveMemberResponseSchema>> => {
    const person = personOf(request, call);
    const context = writeContext(call, clock);
    const run = (tx: Transaction) => remove(tx, person, request, call);
    // A preview runs the whole removal and undoes it: it has the errors of the removal, and sees delegations as they will be.
    if (request.validateOnly) return await database.rehearse(context, run);
    return await database.write({ ...context, isAlone: true }, run);
  };
}

async function remove(
  tx: Transaction,
  person: Membership,
  { etag, endSessions: ends }: RemoveMemberRequest,
  call: Call,
) {
  const bindings = await findRemovable(tx, person, call);
  await acceptByCall(tx, call, person.groupUid);
  const current = etagOf(bindings);
  if (etag !== "" && etag !== current)
    throw aborted("the etag is not that of the current role bindings; look at what would be lost, and try again");
  const showLoss = await observeLoss(tx, person, bindings, call);
  await endMembership(tx, person, call, new Set(bindings.map(({ uid }) => uid)));
  if (ends) await endSessions(tx, person);
  return { ...(await showLoss()), etag: current };
}

/** Returns the person of a request. Throws unless the caller may delete role bindings somewhere in the organization. */
function personOf({ organization, identity }: RemoveMemberRequest, call: Call): Membership {
  if (rootOf(organization) !== organization) throw invalidField("organization", "must be the uid of an organization");
  if (!isUserUid(identity))
    throw invalidField("identity", "must be the uid of a person; a workload ends with its identity");
  // Callers without this capability in the organization must not learn how many role bindings the person has there.
  if (!scopeOf(call).some((uid) => isWithin(uid, organization))) requireCapability(call, capability, organization);
  return { identityUid: identity, groupUid: organization };
}

/** Returns the role bindings of a person, in the order of their uids. Throws unless the caller may delete all of them. */
async function findRemovable(session: Session, person: Membership, call: Call): Promise<RoleBindingRow[]> {
  const { identityUid, groupUid } = person;
  const bindings = await findBindingsIn(session, person, maxBindings + 1);
  const kept = bindings.filter(({ parent }) => !accessOf(call).has(capability, parent));
  if (kept.length > 0) throw missing(kept, call);
  if (bindings.length === 0) {
    requireCapability(call, capability, groupUid);
    if (!(await isMember(session, person))) throw notFound("iam.gatehouse.dev/Member", identityUid);
  }
  if (bindings.length > maxBindings)
    throw failedPrecondition(
      "TOO_MANY_BINDINGS",
      `the person holds more than ${maxBindings} role bindings in the organization; delete some of them first`,
      identityUid,
    );
  return bindings.sort((a, b) => compareTexts(a.uid, b.uid));
}

/** Returns the error for role bindings that the caller may not delete. It names the place of one that the caller may list, if there is any. */
function missing(kept: readonly RoleBindingRow[], call: Call): ApiError {
  const count = kept.length > maxBindings ? `more than ${maxBindings}` : String(kept.length);
  const { code, message } = permissionDenied(
    `role bindings of the person where the caller lacks role_bindings.delete: ${count}`,
  );
  const scope = kept.find(({ parent }) => mayListBindings(call, parent))?.parent;
  const metadata = {
    capability: "role_bindings.delete",
    role_bindings: String(kept.length),
    ...(scope !== undefined && { scope }),
  };
  return new ApiError(code, message, { reason: "MISSING_CAPABILITY", metadata });
}

/** Returns the same text for the same role bindings with the same roles. */
function etagOf(bindings: readonly RoleBindingRow[]): string {
  const held = bindings.map(({ uid, roleUid }) => [uid, roleUid]);
  return createHash("sha256").update(JSON.stringify(held)).digest("hex").slice(0, 32);
}
