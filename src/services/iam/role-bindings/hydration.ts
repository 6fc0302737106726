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
import { isReadable, isReadableRole } from "../rules/readable.ts";
import { knownAmong } from "../users/membership.ts";

/** A role binding with its identity, group and role. */
export type Hydrated = MessageInitShape<typeof RoleBindingSchema>;

/**
 * Adds the identity, group and role to bindings. Only the uid is shown of what the caller cannot read, and of users who have not accepted
 * the organization. Without a call, in events, only what callers of the binding's own group can read is shown.
 */
export async function hydrate(session: Session, bindings: readonly RoleBindingRow[], call?: Call): Promise<Hydrated[]> {
  const identities = lookup(session, identityCollection);
  const groups = lookup(session, groupCollection);
  const roles = lookup(session, roleCollection);
  const isKnownTo = await knownAmong(
    session,
    bindings.map(({ identityUid }) => identityUid),
  );
  const shown: Hydrated[] = [];
  for (const binding of bindings) {
    const { identityUid, roleUid, parent } = binding;
    const isOwn = identityUid === call?.caller?.uid;
    const showsIdentity = isOwn || (isReadable(binding, call) && isKnownTo(identityUid, parent));
    const showsRole = isOwn || isReadableRole(roleUid, parent, call);
    const showsGroup = !call || accessOf(call).has(Capability.CAP_IAM_GROUPS_LIST, parent);
    const identity = showsIdentity ? await identities(identityUid) : undefined;
    shown.push({
      uid: binding.uid,
      identity: identity ? identityReference(identity) : { uid: identityUid },
      group: reference(parent, showsGroup ? await groups(parent) : undefined),
      role: reference(roleUid, showsRole ? await roles(roleUid) : undefined),
      createTime: toTimestamp(binding.createTime),
    });
  }
  return shown;
}

/** Whether a caller may bind an identity: users, identities of the same organization, and others with `identity.list`. */
export function isBindable(
  { identityUid, parent }: Pick<RoleBindingRow, "identityUid" | "parent">,
  call: Call,
): boolean {
  return rootOf(identityUid) === rootOf(parent) || isReadable({ identityUid, parent }, call);
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
