// Entries of the audit log about access: sign-ins, token exchanges and denials. They are rows of the change log, so that one list
// shows them beside the changes, and are removed earlier than those.

import type { Transaction, WriteContext } from "../engine/session.ts";
import { removeOldestOfKind } from "./removal.ts";

/** The kinds of entries. A row of one of them was caused by no change of a resource. */
export const accessKinds = ["denials", "sign_ins", "token_exchanges"] as const;

/** One of these kinds. */
export type AccessKind = (typeof accessKinds)[number];

/** What an entry says beside who, when and where. All texts are of limited length; texts of strangers are escaped. */
export interface AccessDetails {
  /** `omitted` stands for entries that a limit kept out of the log. */
  readonly outcome: "allowed" | "denied" | "omitted";
  /** How often it happened; times are in milliseconds since the epoch. */
  readonly count: number;
  readonly firstTime: number;
  readonly lastTime: number;
  /** The check that failed, such as `iss`; absent where nothing failed. */
  readonly check?: string;
  /** The reason of the error, such as `PERMISSION_DENIED`. */
  readonly reason?: string;
  /** The capability that was missing. */
  readonly capability?: string;
  /** The issuer and the subject of the outside token; before they are verified they are what the client claims. */
  readonly issuer?: string;
  readonly subject?: string;
  /** The address of the client and its `User-Agent`. */
  readonly client?: string;
  readonly userAgent?: string;
}

/** One entry, filed under a group. */
export interface AccessEntry {
  readonly kind: AccessKind;
  readonly uid: string;
  readonly groupUid: string;
  readonly details: AccessDetails;
  readonly by: Pick<WriteContext, "actor" | "actorClaims" | "method" | "requestId">;
}

/** The kind of an entry for a new signing key. It is kept as long as a change. */
export const keyRotationKind = "signing_keys";

/** What such an entry says: never the private half. */
export interface KeyRotation {
  readonly kid: string;
  readonly algorithm: string;
  /** When the other keys retire, in milliseconds since the epoch. */
  readonly othersRetireTime: number;
}

/** Appends entries when the transaction ends. */
export function appendAccessEntries(tx: Transaction, entries: readonly AccessEntry[]): void {
  for (const { kind, uid, groupUid, details, by } of entries)
    tx.logChange({ kind, uid, groupUid, before: null, after: details, by });
}

/** Removes entries that were made at a time or before it, so many of each kind at most, and answers whether that was all. */
export async function removeAccessEntries(tx: Transaction, time: number, portion: number): Promise<boolean> {
  let isAll = true;
  for (const kind of accessKinds) if (!(await removeOldestOfKind(tx, kind, time, portion))) isAll = false;
  return isAll;
}
