// Stores which documents were imported completely.

import { placeholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, eq, getTableColumns, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";

/** The version of a document that was imported completely. */
export type CompleteDocumentRow = Tables["completeDocuments"]["$inferSelect"];

/** Identifies a document: the group that imported it, its source, and its id. */
export type DocumentKey = Pick<CompleteDocumentRow, "parent" | "source" | "document">;

/**
 * Locks a document until the end of the transaction: "shared" to store its records, which must then read whether it is complete, and
 * "exclusive" to complete it. So each record is stored before the completion, which then sees it, or is decided by it. One
 * writer at a time needs no lock.
 */
export async function lockDocument(tx: Transaction, key: DocumentKey, mode: "shared" | "exclusive"): Promise<void> {
  const lock = tx.textLocks?.[mode];
  if (!lock) return;
  const statement = tx.prepared(`complete_documents.lock.${mode}`, (db) =>
    db.select({ one: sql`1` }).from(sql`${lock}(hashtextextended(${textPlaceholder("document")}, 0)) AS locked`),
  );
  await statement.execute({ document: JSON.stringify([key.parent, key.source, key.document]) });
}

/** Returns the version of a document that was imported completely, or undefined. */
export async function findCompleteDocument(
  session: Session,
  { parent, source, document }: DocumentKey,
): Promise<CompleteDocumentRow | undefined> {
  const statement = session.prepared("complete_documents.get", (db, { completeDocuments: documents }) =>
    db
      .select()
      .from(documents)
      .where(
        and(
          eq(documents.parent, sql.placeholder("parent")),
          eq(documents.source, sql.placeholder("source")),
          eq(documents.document, sql.placeholder("document")),
        ),
      ),
  );
  return (await statement.execute({ parent, source, document }))[0];
}

/** Stores the version of a document that was imported completely. */
export async function writeCompleteDocument(tx: Transaction, row: CompleteDocumentRow): Promise<void> {
  const statement = tx.prepared("complete_documents.set", (db, { completeDocuments: documents }) =>
    db
      .insert(documents)
      .values(placeholders(Object.keys(getTableColumns(documents))) as never)
      .onConflictDoUpdate({
        target: [documents.parent, documents.source, documents.document],
        set: {
          modifyTime: sql`excluded.modify_time`,
          modifyNanos: sql`excluded.modify_nanos`,
          revision: sql`excluded.revision`,
        },
      }),
  );
  await statement.execute({ ...row });
}

/** Deletes the documents of a group. */
export async function clearCompleteDocuments(tx: Transaction, parent: string): Promise<void> {
  const statement = tx.prepared("complete_documents.clear", (db, { completeDocuments: documents }) =>
    db.delete(documents).where(eq(documents.parent, sql.placeholder("parent"))),
  );
  await statement.execute({ parent });
}
