// Stores temporary data of sign-ins: logins in progress, tokens for headless devices, refresh token families. The
// sweeper deletes what has expired.

import type { SignIn } from "../../model/sign-in.ts";
import { placeholders, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, count, eq, ne, sql } from "../schema/drizzle.ts";

/** A login in progress: a browser that was redirected to a login provider. */
export interface SignInRow {
  readonly id: string;
  readonly browserDigest: string;
  readonly sealed: string;
  readonly expireTime: number;
}

/** Stores a login in progress. Returns false if there are `limit` of them already. */
export async function insertSignIn(tx: Transaction, row: SignInRow, limit: number): Promise<boolean> {
  const counted = tx.prepared("sign_ins.count", (db, { signIns }) => db.select({ rows: count() }).from(signIns));
  if (((await counted.execute())[0]?.rows ?? 0) >= limit) return false;
  const insert = tx.prepared("sign_ins.insert", (db, { signIns }) =>
    db.insert(signIns).values(rowPlaceholders(["id", "browserDigest", "sealed", "expireTime"])),
  );
  await insert.execute({ ...row });
  return true;
}

/** Returns a login in progress, or undefined. */
export async function findSignIn(session: Session, id: string): Promise<SignInRow | undefined> {
  const statement = session.prepared("sign_ins.get", (db, { signIns }) =>
    db
      .select()
      .from(signIns)
      .where(eq(signIns.id, sql.placeholder("id"))),
  );
  return (await statement.execute({ id }))[0];
}

/** Deletes a login in progress. Returns whether it existed, which is true for one caller only. */
export async function takeSignIn(tx: Transaction, id: string): Promise<boolean> {
  const statement = tx.prepared("sign_ins.take", (db, { signIns }) =>
    db
      .delete(signIns)
      .where(eq(signIns.id, sql.placeholder("id")))
      .returning({ id: signIns.id }),
  );
  return (await statement.execute({ id })).length > 0;
}

/**
 * A token for a device without a browser. After delivery the row stays without the token, because no other sign-in may
 * use the code.
 */
export interface HeadlessSessionRow {
  readonly code: string;
  readonly publicKey: string;
  /** Empty after delivery. */
  readonly encryptedToken: string;
  readonly expireTime: number;
}

/** Stores a token for a device. Returns false if the code was used before. */
export async function insertHeadlessSession(tx: Transaction, row: HeadlessSessionRow): Promise<boolean> {
  const statement = tx.prepared("headless_sessions.insert", (db, { headlessSessions }) =>
    db
      .insert(headlessSessions)
      .values(rowPlaceholders(["code", "publicKey", "encryptedToken", "expireTime"]))
      .onConflictDoNothing()
      .returning({ code: headlessSessions.code }),
  );
  return (await statement.execute({ ...row })).length > 0;
}

/** Returns the session with the code of a device, or undefined if nobody has signed in for it. */
export async function findHeadlessSession(session: Session, code: string): Promise<HeadlessSessionRow | undefined> {
  const statement = session.prepared("headless_sessions.get", (db, { headlessSessions }) =>
    db
      .select()
      .from(headlessSessions)
      .where(eq(headlessSessions.code, sql.placeholder("code"))),
  );
  return (await statement.execute({ code }))[0];
}

/**
 * Deletes the token of a session, and keeps its code. Returns whether the token existed, which is true for one caller
 * only.
 */
export async function takeHeadlessToken(tx: Transaction, { code }: HeadlessSessionRow): Promise<boolean> {
  const statement = tx.prepared("headless_sessions.take", (db, { headlessSessions }) =>
    db
      .update(headlessSessions)
      .set({ encryptedToken: "" })
      .where(and(eq(headlessSessions.code, sql.placeholder("code")), ne(headlessSessions.encryptedToken, "")))
      .returning({ code: headlessSessions.code }),
  );
  return (await statement.execute({ code })).length > 0;
}

/** A sign-in that can be refreshed. */
export interface RefreshFamilyRow {
  readonly id: string;
  readonly identityUid: string;
  readonly digest: string;
  readonly signIn: SignIn;
  readonly createTime: number;
  readonly expireTime: number;
}

/** Adds a family. Deletes the oldest families of the identity beyond `limit`. */
export async function insertRefreshFamily(tx: Transaction, row: RefreshFamilyRow, limit: number): Promise<void> {
  const known = tx.prepared("refresh_families.of", (db, { refreshFamilies }) =>
    db
      .select({ id: refreshFamilies.id })
      .from(refreshFamilies)
      .where(eq(refreshFamilies.identityUid, textPlaceholder("identityUid")))
      .orderBy(asc(refreshFamilies.createTime), asc(refreshFamilies.id)),
  );
  const ids = await known.execute({ identityUid: row.identityUid });
  for (const { id } of ids.slice(0, Math.max(0, ids.length - limit + 1))) await deleteRefreshFamily(tx, id);
  const insert = tx.prepared("refresh_families.insert", (db, { refreshFamilies }) =>
    db
      .insert(refreshFamilies)
      .values(rowPlaceholders(["id", "identityUid", "digest", "signIn", "createTime", "expireTime"])),
  );
  await insert.execute({ ...row });
}

/** Returns the family of a refresh token, or undefined. */
export async function findRefreshFamily(session: Session, id: string): Promise<RefreshFamilyRow | undefined> {
  const statement = session.prepared("refresh_families.get", (db, { refreshFamilies }) =>
    db
      .select()
      .from(refreshFamilies)
      .where(eq(refreshFamilies.id, sql.placeholder("id"))),
  );
  return (await statement.execute({ id }))[0];
}

/** Returns the families of an identity, the oldest first. There are at most as many as `insertRefreshFamily` keeps. */
export async function listRefreshFamilies(session: Session, identityUid: string): Promise<RefreshFamilyRow[]> {
  const statement = session.prepared("refresh_families.list", (db, { refreshFamilies }) =>
    db
      .select()
      .from(refreshFamilies)
      .where(eq(refreshFamilies.identityUid, textPlaceholder("identityUid")))
      .orderBy(asc(refreshFamilies.createTime), asc(refreshFamilies.id)),
  );
  return await statement.execute({ identityUid });
}

/** Replaces the sign-in of a family. */
export async function updateRefreshFamily(tx: Transaction, id: string, signIn: SignIn): Promise<void> {
  const statement = tx.prepared("refresh_families.update", (db, { refreshFamilies }) =>
    db
      .update(refreshFamilies)
      .set(placeholders(["signIn"]))
      .where(eq(refreshFamilies.id, sql.placeholder("id"))),
  );
  await statement.execute({ id, signIn });
}

/** Replaces the valid token of a family by the next one. Returns false if `digest` is not that of the valid token. */
export async function rotateRefreshFamily(tx: Transaction, id: string, digest: string, next: string): Promise<boolean> {
  const statement = tx.prepared("refresh_families.rotate", (db, { refreshFamilies }) =>
    db
      .update(refreshFamilies)
      .set(placeholders(["next"], ["digest"]))
      .where(and(eq(refreshFamilies.id, sql.placeholder("id")), eq(refreshFamilies.digest, sql.placeholder("digest"))))
      .returning({ id: refreshFamilies.id }),
  );
  return (await statement.execute({ id, digest, next })).length > 0;
}

/** Deletes a family. */
export async function deleteRefreshFamily(tx: Transaction, id: string): Promise<void> {
  const statement = tx.prepared("refresh_families.delete", (db, { refreshFamilies }) =>
    db.delete(refreshFamilies).where(eq(refreshFamilies.id, sql.placeholder("id"))),
  );
  await statement.execute({ id });
}
