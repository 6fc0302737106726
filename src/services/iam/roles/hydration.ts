import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { RoleBindingSchema } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import type { MaybePromise } from "../../../base/maybe-promise.ts";
import { rootOf } from "../../../model/uid.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Collection, ResourceRow } from "../../../storage/collection/collection.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection, identityCollection, roleCollection } from "../../../storage/iam/collections.ts";
import type { IdentityRow, RoleBindingRow } from "../../../storage/iam/rows.ts";
import { knownAmong } from "../users/membership.ts";

/** A role binding with its identity, group and role. */
export type Hydrated = MessageInitShape<typeof RoleBindingSchema>;

/**
 * Adds the identity, group and role to bindings. Only the uid is shown of identities that the caller cannot read, and of users who
 * have not accepted the organization. Without a call, only identities of the binding's organization are readable.
 */
export async function hydrate(session: Session, bindings: readonly RoleBindingRow[], call?: Call): Promise<Hydrated[]> {
  const identities = lookup(session, identityCollection);
  const groups = lookup(session, groupCollection);
  const roles = lookup(session, roleCollection);
  const isKnownTo = await knownAmong(
    session,
    bindings.map(({ identityUid }) => identityUid),
  );
  const isShown = (binding: RoleBindingRow) =>
    isReadable(binding, call) &&
    (isKnownTo(binding.identityUid, binding.parent) || binding.identityUid === call?.caller?.uid);
  const shown: Hydrated[] = [];
  for (const binding of bindings) {
    const { identityUid, roleUid } = binding;
    const identity = isShown(binding) ? await identities(identityUid) : undefined;
    shown.push({
      uid: binding.uid,
      identity: identity ? identityReference(identity) : { uid: identityUid },
      group: reference(binding.parent, await groups(binding.parent)),
      role: reference(roleUid, await roles(roleUid)),
      createTime: toTimestamp(binding.createTime),
    });
  }
  return shown;
}

/**
 * Whether a caller may read the identity of a binding, and so may bind it. Users belong to no organization and are readable. Other
 * identities are readable in their own organization, and elsewhere with `identity.list`.
 */
export function isReadable(
  { identityUid, parent }: Pick<RoleBindingRow, "identityUid" | "parent">,
  call?: Call,
): boolean {
  if (!identityUid.includes("/") || rootOf(identityUid) === rootOf(parent)) return true;
  if (!call) return false;
  return identityUid === call.caller?.uid || accessOf(call).has(Capability.CAP_IAM_IDENTITY_LIST, identityUid);
}

/** Shows an identity as part of a role binding. */
export function identityReference(row: IdentityRow) {
  const { uid, name, description, subject, issuer, email } = row;
  return { uid, name, description, subject, issuer, email };
}

function reference(uid: string, row: { name: string; description: string } | undefined) {
  return row ? { uid, name: row.name, description: row.description } : { uid };
}

/** Makes a function that finds rows by uid and reads each of them once. */
export function lookup<R extends ResourceRow>(session: Session, collection: Collection<R>) {
  const known = new Map<string, MaybePromise<R | undefined>>();
  return (uid: string) => {
    if (!known.has(uid)) known.set(uid, findRow(session, collection, uid));
    return known.get(uid);
  };
}
