// Stores which servers share the database: each writes a row about itself while it runs.
import { limitOf, rowPlaceholders } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { desc, eq, sql } from "../schema/drizzle.ts";

/** A server that shares the database. Times are in milliseconds since the epoch. */
export interface NodeRow {
  readonly id: string;
  readonly hostName: string;
  readonly version: string;
  /** How many processes serve the port of the server. */
  readonly workerCount: number;
  readonly startTime: number;
  readonly lastSeenTime: number;
}

/** The most servers that are read. Each start adds one for at most the retention. */
const maxNodes = 1000;

/** Stores that a server runs. A worker that replaces another one keeps the time at which the server started. */
export async function writeNode(tx: Transaction, row: NodeRow): Promise<void> {
  const statement = tx.prepared("nodes.write", (db, { nodes }) =>
    db
      .insert(nodes)
      .values(rowPlaceholders(["id", "hostName", "version", "workerCount", "startTime", "lastSeenTime"]))
      .onConflictDoUpdate({ target: nodes.id, set: { lastSeenTime: sql`excluded.last_seen_time` } }),
  );
  await statement.execute({ ...row });
}

/** Deletes the row of a server. */
export async function deleteNode(tx: Transaction, id: string): Promise<void> {
  const statement = tx.prepared("nodes.delete", (db, { nodes }) =>
    db.delete(nodes).where(eq(nodes.id, sql.placeholder("id"))),
  );
  await statement.execute({ id });
}

/** Returns the servers that were seen last. */
export async function listNodes(session: Session): Promise<NodeRow[]> {
  const statement = session.prepared("nodes.list", (db, { nodes }) =>
    db.select().from(nodes).orderBy(desc(nodes.lastSeenTime), desc(nodes.id)).limit(limitOf(maxNodes)),
  );
  return await statement.execute();
}
