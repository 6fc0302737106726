// Stores the shapes of tokens that the rules of identities accepted or denied. The change log has no entries of them.
import type { SQL } from "drizzle-orm";
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, count, desc, eq, gt, gte, lt, lte, ne, or, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";

/** A shape, and how often it was presented. Times are in milliseconds since the epoch. */
export interface SeenToken {
  readonly identityUid: string;
  /** SHA-256 of the claims and of where the token was presented. */
  readonly digest: string;
  readonly rootUid: string;
  /** JSON. */
  readonly claims: string;
  /** The check that denied it; empty if it was accepted. */
  readonly failedCheck: string;
  readonly isRegistry: boolean;
  /** How often it had this outcome since it had another one, and when. */
  readonly count: number;
  readonly firstTime: number;
  readonly lastTime: number;
}

/** How many shapes are stored. The oldest are deleted. */
export interface SeenTokenCaps {
  readonly acceptedShapesOfIdentity: number;
  readonly deniedShapesOfIdentity: number;
  readonly shapesOfOrganization: number;
}

/**
 * Adds to the shapes of existing identities, and deletes the oldest beyond the caps. Sorts the rows: concurrent transactions then do not
 * deadlock.
 */
export async function storeSeenTokens(tx: Transaction, rows: readonly SeenToken[], caps: SeenTokenCaps): Promise<void> {
  const grown: SeenToken[] = [];
  for (const row of rows.toSorted(compareRows)) if (await upsert(tx, row)) grown.push(row);
  const { acceptedShapesOfIdentity, deniedShapesOfIdentity, shapesOfOrganization } = caps;
  const uids = (isAccepted: boolean) =>
    new Set(grown.filter(({ failedCheck }) => (failedCheck === "") === isAccepted).map((row) => row.identityUid));
  for (const uid of uids(true)) await deleteBeyond(tx, "accepted", uid, acceptedShapesOfIdentity);
  for (const uid of uids(false)) await deleteBeyond(tx, "denied", uid, deniedShapesOfIdentity);
  for (const uid of new Set(grown.map(({ rootUid }) => rootUid)))
    await deleteBeyond(tx, "of_organization", uid, shapesOfOrganization);
}

function compareRows(a: SeenToken, b: SeenToken): number {
  const [one, other] = [`${a.identityUid} ${a.digest}`, `${b.identityUid} ${b.digest}`];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Adds to one shape. Returns whether it is new, or has another outcome than before. */
async function upsert(tx: Transaction, row: SeenToken): Promise<boolean> {
  const statement = tx.prepared("seen_tokens.add", (db, { seenTokens, identities }) => {
    const { count: total, firstTime, failedCheck } = seenTokens;
    const text = Object.fromEntries(
      (["identityUid", "digest", "rootUid", "claims", "failedCheck"] as const).map((name) => [
        name,
        textPlaceholder(name),
      ]),
    ) as Record<"identityUid" | "digest" | "rootUid" | "claims" | "failedCheck", SQL>;
    const values = [
      text.identityUid,
      text.digest,
      text.rootUid,
      text.claims,
      text.failedCheck,
      sql`${numberPlaceholder("isRegistry")} = 1`,
      ...["count", "firstTime", "lastTime"].map(numberPlaceholder),
    ];
    const isSame = sql`(${failedCheck} = '') = (excluded.failed_check = '')`;
    return (
      db
        .insert(seenTokens)
        // The identity may be deleted by now.
        .select(
          sql`select ${sql.join(values, sql`, `)} from ${identities} where ${identities.uid} = ${text.identityUid}`,
        )
        .onConflictDoUpdate({
          target: [seenTokens.identityUid, seenTokens.digest],
          set: {
            failedCheck: sql`excluded.failed_check`,
            count: sql`excluded.count + case when ${isSame} then ${total} else 0 end`,
            firstTime: sql`case when ${isSame} then ${firstTime} else excluded.first_time end`,
            lastTime: sql`excluded.last_time`,
          },
        })
        .returning({ firstTime })
    );
  });
  const [stored] = await statement.execute({ ...row, isRegistry: Number(row.isRegistry) });
  return stored?.firstTime === row.firstTime;
}

type Capped = "accepted" | "denied" | "of_organization";

/** More than a transaction can add beyond a cap. */
const maxDeleted = 1000;

async function deleteBeyond(tx: Transaction, capped: Capped, uid: string, cap: number): Promise<void> {
  const statement = tx.prepared(`seen_tokens.beyond.${capped}`, (db, { seenTokens }) => {
    const { identityUid, digest, rootUid, failedCheck, lastTime } = seenTokens;
    const conditions = {
      accepted: and(eq(identityUid, textPlaceholder("uid")), eq(failedCheck, "")),
      denied: and(eq(identityUid, textPlaceholder("uid")), ne(failedCheck, "")),
      of_organization: eq(rootUid, textPlaceholder("uid")),
    };
    const oldest = db
      .select({ identityUid, digest })
      .from(seenTokens)
      .where(conditions[capped])
      .orderBy(desc(lastTime))
      .limit(limitOf(maxDeleted))
      .offset(limitOf("cap"));
    return db.delete(seenTokens).where(sql`(${identityUid}, ${digest}) in (${oldest})`);
  });
  await statement.execute({ uid, cap });
}

/** Shapes of one identity, presented since a time. */
export interface SeenTokenFilter {
  readonly identityUid: string;
  readonly since: number;
}

/** A page of them. */
export interface SeenTokenPage {
  readonly after: Pick<SeenToken, "lastTime" | "digest"> | undefined;
  readonly skip: number;
  readonly limit: number;
}

/** Returns the shapes after a position, those that were presented last first. */
export async function listSeenTokens(
  session: Session,
  filter: SeenTokenFilter,
  { after, skip, limit }: SeenTokenPage,
): Promise<SeenToken[]> {
  const statement = session.prepared(`seen_tokens.list${after ? ".after" : ""}`, (db, tables) =>
    db
      .select()
      .from(tables.seenTokens)
      .where(and(matching(tables), after && beyond(tables)))
      .orderBy(desc(tables.seenTokens.lastTime), asc(tables.seenTokens.digest))
      .limit(limitOf("limit"))
      .offset(limitOf("skip")),
  );
  return await statement.execute({
    ...filter,
    ...(after && { time: after.lastTime, digest: after.digest }),
    skip,
    limit,
  });
}

/** Counts the shapes. */
export async function countSeenTokens(session: Session, filter: SeenTokenFilter): Promise<number> {
  const statement = session.prepared("seen_tokens.count", (db, tables) =>
    db.select({ rows: count() }).from(tables.seenTokens).where(matching(tables)),
  );
  return (await statement.execute({ ...filter }))[0]?.rows ?? 0;
}

function matching({ seenTokens: { identityUid, lastTime } }: Tables) {
  return and(eq(identityUid, textPlaceholder("identityUid")), gte(lastTime, numberPlaceholder("since")));
}

function beyond({ seenTokens: { lastTime, digest } }: Tables) {
  const time = numberPlaceholder("time");
  return or(lt(lastTime, time), and(eq(lastTime, time), gt(digest, textPlaceholder("digest"))));
}

/** Deletes all shapes of an identity. Returns how many. */
export async function clearSeenTokens(tx: Transaction, identityUid: string): Promise<number> {
  const statement = tx.prepared("seen_tokens.clear", (db, { seenTokens }) =>
    db
      .delete(seenTokens)
      .where(eq(seenTokens.identityUid, textPlaceholder("identityUid")))
      .returning({ digest: seenTokens.digest }),
  );
  return (await statement.execute({ identityUid })).length;
}

/** Deletes shapes that were presented last at or before a time, up to `batchSize`. Returns whether none are left. */
export async function removeSeenTokens(tx: Transaction, time: number, batchSize: number): Promise<boolean> {
  const statement = tx.prepared(
    "seen_tokens.sweep",
    (db, { seenTokens: { identityUid, digest, lastTime }, seenTokens }) => {
      const old = db
        .select({ identityUid, digest })
        .from(seenTokens)
        .where(lte(lastTime, numberPlaceholder("time")))
        .orderBy(asc(lastTime))
        .limit(limitOf("batchSize"));
      return db.delete(seenTokens).where(sql`(${identityUid}, ${digest}) in (${old})`).returning({ digest });
    },
  );
  return (await statement.execute({ time, batchSize })).length < batchSize;
}
