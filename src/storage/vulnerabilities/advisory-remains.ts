// Finds groups with advisory data that is not among their resources, such as records and links.
import { textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, eq, exists, gte, lt, or, sql } from "../schema/drizzle.ts";

/** Returns whether a group may have records, links of its advisories, or what is derived from them. Calls at the same time ask together. */
export async function mayHaveAdvisoryRemains({ gather }: Session, groupUid: string): Promise<boolean> {
  return !gather || (await gather.read("advisory_remains", [groupUid], groupsWithRemains)).has(groupUid);
}

async function groupsWithRemains(session: Session, groupUids: readonly string[]): Promise<ReadonlySet<string>> {
  const statement = session.prepared("advisory_remains.groups", (db, tables) => {
    const { advisoryRecords, advisoryRecordLinks: links, deletedAdvisories, completeDocuments, exportStates } = tables;
    const uid = sql<string>`value`;
    const one = { one: sql`1` };
    const linked = and(gte(links.advisoryUid, sql`${uid} || '/'`), lt(links.advisoryUid, sql`${uid} || '0'`));
    return db
      .select({ uid })
      .from(session.textsOf(textPlaceholder("uids")))
      .where(
        or(
          exists(db.select(one).from(advisoryRecords).where(eq(advisoryRecords.parent, uid))),
          exists(db.select(one).from(links).where(linked)),
          exists(db.select(one).from(deletedAdvisories).where(eq(deletedAdvisories.parent, uid))),
          exists(db.select(one).from(completeDocuments).where(eq(completeDocuments.parent, uid))),
          exists(db.select(one).from(exportStates).where(eq(exportStates.groupUid, uid))),
        ),
      );
  });
  const found = await statement.execute({ uids: JSON.stringify(groupUids) });
  return new Set(found.map(({ uid }) => uid));
}
