import { findMappingsOf } from "../storage/providers.ts";
import type { Session } from "../storage/session.ts";
import type { Claims } from "../sts/claim-match.ts";
import type { LoginProvider } from "./login-provider.ts";

/** Mappings of a provider that are looked at, groups of a person that are, and mappings that a token has room for. */
const [maxMappings, maxGroups, maxCarried] = [10_000, 1000, 150];

/** The uids of the mappings that hold for the groups which the provider says a person is in. */
export async function findMappings(
  session: Session,
  { uid, organization }: LoginProvider,
  claims: Claims,
): Promise<string[]> {
  const groups = new Set(organization ? groupsOf(claims, organization.groupsClaim) : []);
  if (groups.size === 0) return [];
  const mappings = await findMappingsOf(session, uid, maxMappings);
  const held = mappings.filter(({ externalGroupId }) => groups.has(externalGroupId));
  return held.slice(0, maxCarried).map((mapping) => mapping.uid);
}

/** A text or a list of texts; whatever else stands there are no groups. */
function groupsOf(claims: Claims, name: string): string[] {
  const claim = name !== "" && Object.hasOwn(claims, name) ? claims[name] : [];
  return [claim]
    .flat()
    .filter((one): one is string => typeof one === "string")
    .slice(0, maxGroups);
}
