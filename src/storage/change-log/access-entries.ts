// Audit log entries about access: sign-ins, token exchanges and denials. They are rows of the change log: one list shows
// them with the changes. Their retention is shorter.

import type { Transaction, WriteContext } from "../engine/session.ts";
import { removeOldestOfKind } from "./removal.ts";

/** The kinds of access entries. No change of a resource has such a kind. */
export const accessKinds = ["denials", "sign_ins", "session_ends", "token_exchanges"] as const;

/** One of these kinds. */
export type AccessKind = (typeof accessKinds)[number];

/**
 * The content of an entry besides who, when and where. All texts have limited length; texts of unauthenticated clients
 * are escaped.
 */
export interface AccessDetails {
  /** `omitted` counts entries that a limit kept out of the log. */
  readonly outcome: "allowed" | "denied" | "omitted";
  /** The number of repetitions. Times are in milliseconds since the epoch. */
  readonly count: number;
  readonly firstTime: number;
  readonly lastTime: number;
  /** The failed check, such as `iss`; absent if nothing failed. */
  readonly check?: string | undefined;
  /** The reason of the error, such as `PERMISSION_DENIED`. */
  readonly reason?: string | undefined;
  /** The missing capability. */
  readonly capability?: string | undefined;
  /** The issuer and subject of the subject token; before verification, as the client claims them. */
  readonly issuer?: string | undefined;
  readonly subject?: string | undefined;
  /** The address of the client and its `User-Agent`. */
  readonly client?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** One entry of a group. */
export interface AccessEntry {
  readonly kind: AccessKind;
  readonly uid: string;
  readonly groupUid: string;
  readonly details: AccessDetails;
  readonly by: Pick<WriteContext, "actor" | "actorClaims" | "method" | "requestId">;
}

/** The kind of the entry for a new signing key. Its retention is that of changes. */
export const keyRotationKind = "signing_keys";

/** The content of that entry, without the private key. */
export interface KeyRotation {
  readonly kid: string;
  readonly algorithm: string;
  /** When the other keys retire, in milliseconds since the epoch. */
  readonly othersRetireTime: number;
}

/** The kind of the entry for a signing key that an operator retired at once. Its retention is that of changes. */
export const keyRetirementKind = "signing_key_retirements";

/** The content of that entry. */
export interface KeyRetirement {
  readonly kid: string;
  readonly algorithm: string;
  /** In milliseconds since the epoch. */
  readonly retireTime: number;
}

/** The kind of the entry for a session that an operator ended. Its retention is that of changes. */
export const endedSessionKind = "ended_sessions";

/** The client of a caller. */
export type CallerClient = Pick<AccessDetails, "client" | "userAgent">;

/** The content of that entry, with the operator's client. The entry is about the identity of the session. */
export interface EndedSession extends CallerClient {
  readonly sessionId: string;
  /** The e-mail address that the login provider gave. It may be empty. */
  readonly email: string;
  readonly isBrowser: boolean;
  /** When the person signed in, in milliseconds since the epoch. */
  readonly createTime: number;
}

/** The kind of the entry for a client secret that an operator exported. Its retention is that of changes. */
export const secretExportKind = "client_secret_exports";

/** The content of that entry. */
export interface SecretExport {
  /** SHA-256 of the recipient's public key. */
  readonly recipientKey: string;
  readonly algorithm: string;
}

/** The kind of the entry for an export of the resources of a group. Its retention is that of changes. */
export const resourceExportKind = "resource_exports";

/** The content of that entry: the client. */
export type ResourceExport = CallerClient;

/** The kind of the entry for seen tokens of an identity that were deleted. Its retention is that of changes. */
export const seenTokenClearingKind = "seen_token_clearings";

/** The content of that entry: how many there were, and the client. */
export interface SeenTokenClearing extends CallerClient {
  readonly tokens: number;
}

/** Appends entries at the end of the transaction. */
export function appendAccessEntries(tx: Transaction, entries: readonly AccessEntry[]): void {
  for (const { kind, uid, groupUid, details, by } of entries)
    tx.logChange({ kind, uid, groupUid, before: null, after: details, by });
}

/** Deletes entries made at or before a time, up to a batch of each kind. Returns whether none are left. */
export async function removeAccessEntries(tx: Transaction, time: number, batchSize: number): Promise<boolean> {
  let isAll = true;
  for (const kind of accessKinds) if (!(await removeOldestOfKind(tx, kind, time, batchSize))) isAll = false;
  return isAll;
}
