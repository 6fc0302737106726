// The change log: what was changed, by whom, in the order of commits. Audit, webhooks and watchers are readers of it.
import { asc, gt, sql } from "drizzle-orm";
import type { Session, Transaction } from "./session.ts";

/** One change of one resource. */
export interface ChangeEntry {
  readonly kind: string;
  readonly uid: string;
  /** The group it is filed under: for groups themselves; for anything deleted and for the rest the one above. */
  readonly groupUid: string;
  /** The row before; null for an insert. */
  readonly before: unknown;
  /** The row after; null for a delete. */
  readonly after: unknown;
}

/** Appends a change in the transaction that makes it. */
export async function appendChange(tx: Transaction, entry: ChangeEntry): Promise<void> {
  await tx.lockChanges();
  const statement = tx.prepared("changes.append", (db, { changes }) =>
    db.insert(changes).values({
      time: sql.placeholder("time"),
      actor: sql.placeholder("actor"),
      method: sql.placeholder("method"),
      requestId: sql.placeholder("requestId"),
      kind: sql.placeholder("kind"),
      uid: sql.placeholder("uid"),
      groupUid: sql.placeholder("groupUid"),
      before: sql.placeholder("before"),
      after: sql.placeholder("after"),
    }),
  );
  await statement.execute({ ...tx.context, ...entry });
}

/** The changes after a sequence number, oldest first. */
export async function readChanges(session: Session, after: number, limit: number) {
  const statement = session.prepared("changes.read", (db, { changes }) =>
    db
      .select()
      .from(changes)
      .where(gt(changes.sequence, sql.placeholder("after")))
      .orderBy(asc(changes.sequence))
      .limit(sql.placeholder("limit")),
  );
  return await statement.execute({ after, limit });
}
