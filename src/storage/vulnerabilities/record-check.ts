// Scans the records and the advisories derived from them, for the check of the database.

import { limitOf } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { scanTable } from "../engine/table-scan.ts";
import { asc, eq, gt, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import type { RecordRow } from "./records.ts";

const pageSize = 500;

/** A link from an advisory to one of its records. */
export type RecordLink = Tables["advisoryRecordLinks"]["$inferSelect"];

/** Yields pages of advisories, ordered by uid. */
export function pagesOfAdvisories(session: Session) {
  const statement = session.prepared("advisories.check.pages", (db, { advisories }) =>
    db
      .select()
      .from(advisories)
      .where(gt(advisories.uid, sql.placeholder("uid")))
      .orderBy(asc(advisories.uid))
      .limit(limitOf(pageSize)),
  );
  return scanTable(
    pageSize,
    "",
    (uid: string) => statement.execute({ uid }),
    (row) => row.uid,
  );
}

/** Yields pages of records, with the advisories that they are about. */
export function pagesOfRecords(session: Session) {
  const statement = session.prepared("advisory_records.check.pages", (db, { advisoryRecords: records }) =>
    db
      .select({ id: records.id, advisoryUids: records.advisoryUids })
      .from(records)
      .where(gt(records.id, sql.placeholder("id")))
      .orderBy(asc(records.id))
      .limit(limitOf(pageSize)),
  );
  return scanTable(
    pageSize,
    0,
    (id: number) => statement.execute({ id }),
    (row: Pick<RecordRow, "id" | "advisoryUids">) => row.id,
  );
}

/** Yields pages of links, with the advisories that their records are about; null if the record is missing. */
export function pagesOfLinks(session: Session) {
  const statement = session.prepared("advisory_record_links.check.pages", (db, tables) => {
    const { advisoryRecordLinks: links, advisoryRecords: records } = tables;
    return db
      .select({ advisoryUid: links.advisoryUid, recordId: links.recordId, advisoryUids: records.advisoryUids })
      .from(links)
      .leftJoin(records, eq(records.id, links.recordId))
      .where(
        sql`(${links.advisoryUid}, ${links.recordId}) > (${sql.placeholder("advisoryUid")}, ${sql.placeholder("recordId")})`,
      )
      .orderBy(asc(links.advisoryUid), asc(links.recordId))
      .limit(limitOf(pageSize));
  });
  const start: RecordLink = { advisoryUid: "", recordId: 0 };
  return scanTable(
    pageSize,
    start,
    (after: RecordLink) => statement.execute({ advisoryUid: after.advisoryUid, recordId: after.recordId }),
    (row) => row,
  );
}
