import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";
import type { Database } from "../storage/database.ts";
import type { Session } from "../storage/engine/session.ts";
import { findDelegationsByMapping, setDelegationMappings } from "../storage/iam/delegations.ts";
import { maxMappings } from "../storage/iam/limits.ts";
import { findMappingsOf } from "../storage/iam/providers.ts";
import type { Claims } from "../sts/claim-match.ts";
import type { LoginProvider } from "./login-provider.ts";

/** Groups of a person that are looked at, and mappings that a token has room for. */
const [maxGroups, maxCarried] = [1000, 150];

/** What finding mappings rests on. */
export interface MappingDeps {
  readonly session: Session;
  readonly log: Pick<Logger, "warn">;
}

/**
 * The uids of the mappings that hold for the groups which the provider says a person is in, in their order: the first
 * ones when a token has no room for all, and then the log says so.
 */
export async function findMappings(
  { session, log }: MappingDeps,
  { uid, organization }: LoginProvider,
  claims: Claims,
): Promise<string[]> {
  const cut = <T>(items: readonly T[], what: string, most: number) => {
    if (items.length > most)
      log.warn({ event: "cut", provider: uid, what, found: items.length, kept: most }, "sign-in");
    return items.slice(0, most);
  };
  const groups = new Set(cut(organization ? groupsOf(claims, organization.groupsClaim) : [], "groups", maxGroups));
  if (groups.size === 0) return [];
  const mappings = await findMappingsOf(session, uid, maxMappings);
  const held = mappings.filter(({ externalGroupId }) => groups.has(externalGroupId));
  return cut(held, "mappings", maxCarried).map((mapping) => mapping.uid);
}

/**
 * As `findMappings`, of a person who is known. What they vouch for by mappings that hold no longer is not vouched for by those any
 * more (docs/decisions/0035).
 */
export async function mappingsOfPerson(
  { database, clock, log }: { readonly database: Database; readonly clock: Clock; readonly log: MappingDeps["log"] },
  provider: LoginProvider,
  claims: Claims,
  identityUid: string,
): Promise<string[]> {
  const mappings = await findMappings({ session: database.session, log }, provider, claims);
  if (!provider.organization) return mappings;
  const isLost = (uid: string) => uid.startsWith(`${provider.uid}/`) && !mappings.includes(uid);
  const findLacking = async (session: Session) =>
    (await findDelegationsByMapping(session, identityUid, provider.uid)).filter((one) => one.mappings.some(isLost));
  if ((await findLacking(database.session)).length === 0) return mappings;
  const context = { actor: "", method: "mappings", requestId: "", time: clock() };
  await database.write(context, async (tx) => {
    // Read again: somebody else may vouch by now, with mappings of their own.
    for (const one of await findLacking(tx))
      await setDelegationMappings(
        tx,
        one,
        one.mappings.filter((uid) => !isLost(uid)),
      );
  });
  return mappings;
}

/** A text or a list of texts; whatever else stands there are no groups. */
function groupsOf(claims: Claims, name: string): string[] {
  const claim = name !== "" && Object.hasOwn(claims, name) ? claims[name] : [];
  return [claim].flat().filter((one): one is string => typeof one === "string");
}
