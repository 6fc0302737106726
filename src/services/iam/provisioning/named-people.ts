// Finds the identities of an organization that only a deactivated person can assume.
import { setImmediate as nextTick } from "node:timers/promises";
import type { Session } from "../../../storage/engine/session.ts";
import {
  type ExactIdentity,
  findIssuersOfSuspended,
  findSuspensionsIn,
  listExactIdentities,
  type Suspension,
} from "../../../storage/iam/suspended-identities.ts";
import { issuerSpellings, userUidsOf } from "../users/user-uid.ts";

/** An identity, and the deactivated person whom it names. */
export interface NamedPerson {
  readonly uid: string;
  /** One for each provider that deactivated the person. */
  readonly suspensions: readonly Suspension[];
}

/** How many identities with the issuer of a deactivated person are compared, and how many at once: each takes two digests. */
export const maxCompared = 10_000;
const batchSize = 1_000;

/**
 * Returns the identities of an organization, and those with roles in it, whose exact issuer and subject are those of a person whom it has
 * deactivated. `isWhole` says whether all were compared.
 */
export async function findIdentitiesOfSuspended(session: Session, organization: string) {
  const issuers = (await findIssuersOfSuspended(session, organization)).flatMap(issuerSpellings);
  const all = issuers.length > 0 ? await listExactIdentities(session, organization, issuers, maxCompared + 1) : [];
  const compared = all.slice(0, maxCompared);
  const found: NamedPerson[] = [];
  for (let start = 0; start < compared.length; start += batchSize) {
    found.push(...(await compare(session, organization, compared.slice(start, start + batchSize))));
    await nextTick();
  }
  return { found, isWhole: all.length === compared.length };
}

async function compare(session: Session, organization: string, identities: readonly ExactIdentity[]) {
  const people = new Map(identities.map(({ uid, issuer, subject }) => [uid, userUidsOf(issuer, subject)]));
  const suspensions = await findSuspensionsIn(session, organization, [...people.values()].flat());
  const byPerson = Map.groupBy(suspensions, ({ identityUid }) => identityUid);
  return [...people].flatMap(([uid, persons]): NamedPerson[] => {
    const found = persons.flatMap((person) => byPerson.get(person) ?? []);
    return found.length > 0 ? [{ uid, suspensions: found }] : [];
  });
}
