// The identities of the database, as the token exchange reads them.
import { LRUCache } from "lru-cache";
import { IdentitySchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { notFound } from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import type { Clock } from "../../../base/clock.ts";
import { type NamePolicy, noTrust } from "../../../model/trust.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import { findFoundedOrganizations } from "../../../storage/iam/founding-bindings.ts";
import { findIdentitiesByClaims, touchIdentity } from "../../../storage/iam/identities.ts";
import type { IdentityRow } from "../../../storage/iam/rows.ts";
import { hasStaticKeys } from "../../../storage/iam/vouchers.ts";
import { type AssumableIdentity, type IdentityDirectory, maxCandidates } from "../../../sts/assumable-identity.ts";
import { staticKeysInactivity } from "../delegations/inactive-delegations.ts";
import { requireActivePerson } from "../provisioning/suspended-people.ts";
import { isPendingUser } from "../users/pending-users.ts";
import { userUid } from "../users/user-uid.ts";
import { type NameGuardOptions, newNameGuard } from "./name-guard.ts";
import { fromColumns } from "./relationships.ts";

/** How long the last use of an identity is not written again, in milliseconds: each write takes as long as an exchange. */
const touchIntervalMs = 60_000;

/** How many identities are known to be written recently. The one used longest ago is forgotten first. */
const maxTouched = 10_000;

/** Returns the identity directory of a database. */
export function identityDirectory(database: Database, clock: Clock, names: NameGuardOptions): IdentityDirectory {
  const { pinNames } = names;
  const touched = new LRUCache<string, number>({ max: maxTouched });

  async function find(uid: string): Promise<AssumableIdentity | undefined> {
    const row = await findRow(database.session, identityCollection, uid);
    // A pending user cannot sign in.
    return row && !isPendingUser(row) ? await assumable(database.session, row, pinNames) : undefined;
  }

  return {
    find,
    findUser: (issuer, subject) => find(userUid(issuer, subject)),
    async findByClaims(claims) {
      const rows = await findIdentitiesByClaims(database.session, claims, maxCandidates);
      return await Promise.all(rows.map((row) => assumable(database.session, row, pinNames)));
    },
    requireActivePerson: (uid, claims) => requireActivePerson(database.session, uid, claims),
    admitNames: newNameGuard(database, clock, names),
    async touch(uid, time) {
      if (time - (touched.get(uid) ?? Number.NEGATIVE_INFINITY) < touchIntervalMs) return;
      touched.set(uid, time);
      const context = { actor: uid, method: "touch", requestId: "", time: clock() };
      await database
        .write(context, (tx) => touchIdentity(tx, uid, time))
        .catch((error: unknown) => {
          touched.delete(uid);
          throw error;
        });
    },
  };
}

async function assumable(session: Session, row: IdentityRow, pinNames: NamePolicy): Promise<AssumableIdentity> {
  const { uid, createTime, updateTime, issuer, subject, trust } = row;
  const relationship = fromColumns(row.relationship);
  const inactivity = hasStaticKeys(row) ? await staticKeysInactivity(session, uid) : undefined;
  return {
    uid,
    relationship,
    createTime,
    updateTime,
    pins: { policy: effectivePolicy(row, pinNames), trust: trust ?? noTrust },
    // Only users belong to no group.
    user: row.parent === null ? { issuer, subject } : undefined,
    inactivity,
    founded: inactivity === undefined ? undefined : await findFoundedOrganizations(session, uid),
  };
}

/** Returns the row of an identity. Throws NOT_FOUND if there is none. */
export async function requireIdentity(session: Session, uid: string): Promise<IdentityRow> {
  const row = await findRow(session, identityCollection, uid);
  if (!row) throw notFound(resourceType(IdentitySchema), uid);
  return row;
}

/** Returns the policy that is in force. Users, static keys and service principals have no names. */
export function effectivePolicy(row: IdentityRow, pinNames: NamePolicy): NamePolicy {
  return hasNames(row) ? (row.trust?.policy ?? pinNames) : "off";
}

/** Whether the tokens of an identity can have names of workloads. */
export function hasNames({ relationship }: { readonly relationship: { readonly case: string | undefined } }): boolean {
  return relationship.case === "claimMatch" || relationship.case === "awsIdentity";
}
