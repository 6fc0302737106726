// Reads the last state of deleted rows from the change log.

import { textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { isDeletion } from "../schema/deletions.ts";
import { and } from "../schema/drizzle.ts";

/** A deleted row as it was before. */
export interface DeletedRow {
  readonly kind: string;
  readonly uid: string;
  readonly before: unknown;
}

/** Returns which rows of these kinds with these uids were deleted, as far as the log is kept. Kinds whose uids have many deletions are not for this. */
export async function findDeletedRows(
  session: Session,
  kinds: readonly string[],
  uids: readonly string[],
): Promise<DeletedRow[]> {
  if (uids.length === 0) return [];
  const statement = session.prepared("changes.deleted", (db, { changes }) => {
    const { kind, uid, before, after } = changes;
    const [isUid, isKind] = [
      session.isAmong(uid, textPlaceholder("uids")),
      session.isAmong(kind, textPlaceholder("kinds")),
    ];
    return db
      .select({ kind, uid, before })
      .from(changes)
      .where(and(isUid, isKind, isDeletion(after)));
  });
  return await statement.execute({ uids: JSON.stringify(uids), kinds: JSON.stringify(kinds) });
}
