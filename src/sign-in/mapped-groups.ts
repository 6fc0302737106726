import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";
import type { Database } from "../storage/database.ts";
import type { Session } from "../storage/engine/session.ts";
import { findDelegationsByMapping, setDelegationMappings } from "../storage/iam/delegations.ts";
import { maxMappings } from "../storage/iam/limits.ts";
import { findMappingsOf } from "../storage/iam/providers.ts";
import type { Claims } from "../sts/claim-match.ts";
import type { LoginProvider } from "./login-provider.ts";

/** The maximum number of a user's groups that are looked up, and of mappings in a token. */
const [maxGroups, maxCarried] = [1000, 150];

/** Dependencies of finding mappings. */
export interface MappingDeps {
  readonly session: Session;
  readonly log: Pick<Logger, "warn">;
}

/**
 * Returns the uids of the external group role mappings for the groups that the provider reports for a user, in the
 * order of the groups. If a token has no space for all, returns the first ones and logs a warning.
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
 * Like `findMappings`, for a registered user. Delegations that depended on mappings which no longer apply end
 * (docs/decisions/0035).
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
    // Read again in the transaction: another user may have vouched since.
    for (const one of await findLacking(tx))
      await setDelegationMappings(
        tx,
        one,
        one.mappings.filter((uid) => !isLost(uid)),
      );
  });
  return mappings;
}

/** Returns the groups in a claim: a text or a list of texts. Anything else means no groups. */
function groupsOf(claims: Claims, name: string): string[] {
  const claim = name !== "" && Object.hasOwn(claims, name) ? claims[name] : [];
  return [claim].flat().filter((one): one is string => typeof one === "string");
}
