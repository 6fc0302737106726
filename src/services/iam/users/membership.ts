// Users accept organizations. Anyone can bind a role to any user, so an organization sees only the uid of a user who has not accepted
// it by a sign-in or a request (docs/design/access.md).
import { ApiError, permissionDenied } from "../../../aip/errors.ts";
import { newEpochCache } from "../../../authz/epoch-cache.ts";
import type { Clock } from "../../../base/clock.ts";
import { type MaybePromise, mapMaybe } from "../../../base/maybe-promise.ts";
import { rootOf } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { writeContext } from "../../../resource/service-context.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import {
  findMembershipsOf,
  insertMembership,
  isMember,
  type Membership,
  membershipKind,
} from "../../../storage/iam/memberships.ts";
import { isUserUid } from "./user-uid.ts";

/** How many accepted pairs of user and organization are cached. */
const maxCached = 10_000;

const accepted = { isAccepted: true };

/** Records that a user has accepted the organization of a group. Does nothing for other identities. */
export async function accept(tx: Transaction, identityUid: string, groupUid: string): Promise<void> {
  const membership = { identityUid, groupUid: rootOf(groupUid) };
  const isNew = isUserUid(identityUid) && (await insertMembership(tx, membership));
  // The installation enrolls its first owner, who did not decide anything.
  if (isNew && tx.context.actor !== "")
    logMembership(tx, membership, { before: null, after: { joinTime: tx.context.time } });
}

/** Like `accept` for the caller. Throws NOT_JOINED for a page in a browser: see `newEntrance`. */
export async function acceptByCall(tx: Transaction, call: Call, groupUid: string): Promise<void> {
  const { uid, token } = callerOf(call);
  if (token.isOfBrowser && !(await isKnownAt(tx, uid, groupUid))) throw notJoined(rootOf(groupUid));
  await accept(tx, uid, groupUid);
}

/** A membership in the change log. */
export interface LoggedMembership {
  readonly joinTime: number;
}

/** Records in the audit log of the organization that a user has joined or left it. */
export function logMembership(
  tx: Transaction,
  { identityUid: uid, groupUid }: Membership,
  states: { readonly before: LoggedMembership | null; readonly after: LoggedMembership | null },
): void {
  tx.logChange({ kind: membershipKind, uid, groupUid, ...states });
}

/** The reason of the error for a page that opens an organization which its user has not accepted. */
const notJoinedReason = "NOT_JOINED";

function notJoined(organization: string): ApiError {
  const { code, message, details } = permissionDenied(
    "you have not joined the organization: accept or decline it first",
  );
  return new ApiError(code, message, { details, reason: notJoinedReason, metadata: { organization } });
}

/** Whether the organization of a group may see more of an identity than its uid. */
export async function isKnownAt(session: Session, identityUid: string, groupUid: string): Promise<boolean> {
  return !isUserUid(identityUid) || (await isMember(session, { identityUid, groupUid: rootOf(groupUid) }));
}

/** Reads the memberships of identities. The returned function says whether an identity is known in the organization of a group. */
export async function knownAmong(
  session: Session,
  identityUids: readonly string[],
): Promise<(identityUid: string, groupUid: string) => boolean> {
  const people = [...new Set(identityUids)].filter(isUserUid);
  const found = await findMembershipsOf(session, people);
  const known = new Set(found.map(({ identityUid, groupUid }) => `${identityUid} ${groupUid}`));
  return (identityUid, groupUid) => !isUserUid(identityUid) || known.has(`${identityUid} ${rootOf(groupUid)}`);
}

/**
 * Makes the function that the pipeline calls after it has allowed a call at a uid. With the first such call of a program a user accepts
 * the organization. A failed write of the membership does not fail the call.
 *
 * A page in a browser calls what its address names, and another site can open it there: such calls are denied until the user has
 * accepted the organization.
 */
export function newEntrance(database: Database, clock: Clock) {
  const memory = newEpochCache<typeof accepted>(maxCached);

  async function enter(epoch: number, key: string, groupUid: string, call: Call): Promise<void> {
    const { uid: identityUid, token } = callerOf(call);
    if (!(await isMember(database.session, { identityUid, groupUid }))) {
      if (token.isOfBrowser) throw notJoined(groupUid);
      try {
        await database.write(writeContext(call, clock), (tx) => accept(tx, identityUid, groupUid));
      } catch {
        return;
      }
    }
    memory.keep(epoch, key, accepted);
  }

  return (call: Call, uid: string): MaybePromise<void> => {
    const { uid: identityUid } = callerOf(call);
    if (!isUserUid(identityUid)) return undefined;
    const groupUid = rootOf(uid);
    const key = `${identityUid} ${groupUid}`;
    return mapMaybe(database.accessEpoch.current(), (epoch) =>
      memory.find(epoch, key) ? undefined : enter(epoch, key, groupUid, call),
    );
  };
}
