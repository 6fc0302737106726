// Decides whose name a caller may read: people of an organization in which the caller may see or give roles.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { outermost } from "../../authz/access.ts";
import { rootOf } from "../../model/uid.ts";
import { accessOf, callerOf, isNarrowed } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Session } from "../../storage/engine/session.ts";
import { findMembershipsOf } from "../../storage/iam/memberships.ts";
import { findRolesNear } from "../../storage/iam/roles-near.ts";
import { isUserUid } from "../iam/users/user-uid.ts";
import type { Joined } from "./name-reader.ts";

/** How many groups, where a caller may see or give roles, one call looks around. The people of further ones are not read. */
const maxPlaces = 200;

/** The view of a person: with a name, or with the uid alone. */
export type PersonState = "known" | "not joined";

/** Where a caller may see people. */
export interface PeopleScope {
  /** The organizations whose people are all visible. */
  readonly whole: ReadonlySet<string>;
  /** The groups where the caller may see or give roles: people with a role there, below or above are visible. */
  readonly places: readonly string[];
}

/**
 * Returns where a caller may see people, in all organizations or in one. `forGrant` adds all people of the organizations where the caller
 * may give a role.
 */
export function peopleScope(call: Call, joined: Joined, forGrant: boolean, organization?: string): PeopleScope {
  const reach = (capability: Capability) =>
    accessOf(call)
      .scope([capability])
      .filter((uid) => joined?.has(rootOf(uid)) ?? true)
      .filter((uid) => organization === undefined || rootOf(uid) === organization);
  const given = reach(Capability.CAP_IAM_ROLE_BINDINGS_CREATE);
  const places = outermost([...reach(Capability.CAP_IAM_ROLE_BINDINGS_LIST), ...given]);
  const whole = new Set([...places.filter((uid) => !uid.includes("/")), ...(forGrant ? given.map(rootOf) : [])]);
  return { whole, places: places.slice(0, maxPlaces) };
}

/** Returns the states of those of these people whom a caller may see. */
export async function findVisiblePeople(
  session: Session,
  uids: readonly string[],
  { whole, places }: PeopleScope,
  call: Call,
): Promise<ReadonlyMap<string, PersonState>> {
  const states = new Map<string, PersonState>();
  const { uid: self } = callerOf(call);
  // Security case X6: a narrowed token reaches no account.
  if (uids.includes(self) && isUserUid(self) && !isNarrowed(call)) states.set(self, "known");
  const memberships = await findMembershipsOf(session, uids);
  for (const { identityUid, groupUid } of memberships) if (whole.has(groupUid)) states.set(identityUid, "known");
  const rest = uids.filter((uid) => !states.has(uid));
  const members = new Set(memberships.map(({ identityUid, groupUid }) => `${identityUid} ${groupUid}`));
  for (const { identityUid, groupUid } of await findRolesNear(session, rest, places)) {
    const isMember = members.has(`${identityUid} ${groupUid}`);
    if (isMember || !states.has(identityUid)) states.set(identityUid, isMember ? "known" : "not joined");
  }
  return states;
}
