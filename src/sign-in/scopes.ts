import { permissionDenied } from "../aip/errors.ts";
import { outermost } from "../authz/access.ts";
import type { Grants } from "../authz/grants.ts";
import { isUid } from "../model/uid.ts";
import { nameRule } from "../pipeline/text-rules.ts";
import type { Session } from "../storage/engine/session.ts";
import { findGroupsNamed } from "../storage/iam/group-names.ts";

/**
 * Returns the uids of the groups to limit a token to, given by uid or by name; undefined for no limit. Names are looked
 * up where `isKnown` reports that the user has accepted the organization.
 */
export async function resolveScopes(
  session: Session,
  scopes: readonly string[],
  grants: Grants,
  isKnown: (groupUid: string) => boolean = () => true,
) {
  if (scopes.length === 0) return undefined;
  const uids = await Promise.all(
    scopes.map((scope) => (isUid(scope) ? scope : findByName(session, scope, [...grants.keys()].filter(isKnown)))),
  );
  return [...new Set(uids)];
}

/** Searches the given groups only, so the caller learns nothing about names in other groups. */
async function findByName(session: Session, name: string, groupUids: readonly string[]): Promise<string> {
  const held = nameRule.test(name) ? outermost(groupUids) : [];
  const [only, second] = await findGroupsNamed(session, name, held);
  if (only !== undefined && second === undefined) return only.uid;
  throw permissionDenied(second ? "several groups have the name: give its uid" : "no group has the name", {
    scope: name,
  });
}
