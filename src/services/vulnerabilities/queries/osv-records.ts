// Reads advisories as OSV records: unchanged for OSV sources, converted for others.
import {
  type AdvisoryRecord,
  type AdvisoryStatements,
  ProductStatus,
  RecordFormat,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { modifiedOf } from "../../../advisories/osv/json.ts";
import { recordId, schemaVersion } from "../../../advisories/osv/names.ts";
import { publishedRecord } from "../../../advisories/osv/published.ts";
import { type OsvRecord, osvRecordsOf } from "../../../advisories/osv/write.ts";
import { timeText } from "../../../advisories/times.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { listRows, type Source } from "../../../storage/list/list-rows.ts";
import { termIndex } from "../../../storage/vulnerabilities/advisory-terms.ts";
import { type AdvisoryRow, advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { readStatements } from "../records/advisory-statements.ts";
import type { FoundAdvisory } from "./package-search.ts";

/** The fields of a record in a batch response. */
export type OsvHead = Pick<OsvRecord, "id" | "modified">;

/** Reads the OSV records of one query. Returns each record once. */
export interface OsvRecords {
  /** Returns the records that affect the version. */
  of(this: void, found: FoundAdvisory, session: Session): Promise<OsvRecord[]>;
  /** Returns the same, with the fields of a batch response only. */
  headsOf(this: void, found: FoundAdvisory, session: Session): Promise<OsvHead[]>;
  /** Finds a record by its id; undefined if there is none. */
  get(id: string, session: Session): Promise<OsvRecord | undefined>;
}

/** The scope of reading OSV records. */
export interface OsvReading {
  /** The sources that the caller may see. */
  readonly sources: readonly Source[];
  /** The ecosystem of packages without one: that of the query. */
  readonly ecosystem: string;
  /** The time of records without one. */
  readonly now: number;
}

/** How many advisories of one public id are read: there is one per product and group. */
const mostProducts = 200;

/** Makes a reader. */
export function newOsvRecords(reading: OsvReading): OsvRecords {
  const returned = new Set<string>();
  const isNew = ({ id }: { readonly id: string }) => !returned.has(id) && returned.add(id) !== undefined;

  async function headOf({ id, record }: AffectingId, found: FoundAdvisory, session: Session): Promise<OsvHead[]> {
    // Records of OSV sources are returned unchanged, with their own time.
    if (record.format === RecordFormat.OSV) return [{ id, modified: modifiedOf(record) }];
    return (await readRecords(reading, session, id, found)).map(({ id, modified }) => ({ id, modified }));
  }

  return {
    async of(found, session) {
      const records: OsvRecord[] = [];
      for (const { id } of affectingIds(found).filter(isNew))
        records.push(...(await readRecords(reading, session, id, found)));
      return records;
    },
    async headsOf(found, session) {
      const heads: OsvHead[] = [];
      for (const each of affectingIds(found).filter(isNew)) heads.push(...(await headOf(each, found, session)));
      return heads;
    },
    async get(id, session) {
      for (const publicId of id.startsWith("x_") ? [id.slice("x_".length), id] : [id]) {
        const record = (await readRecords(reading, session, publicId)).find((each) => each.id === id);
        if (record) return record;
      }
      return undefined;
    },
  };
}

/** A public id of a record that affects the version. */
interface AffectingId {
  readonly id: string;
  readonly record: AdvisoryRecord;
}

/** A record of OSV has the public id of the advisory on its first product. */
function affectingIds({ row, answer }: FoundAdvisory): AffectingId[] {
  return answer.findings
    .filter(({ status }) => status === ProductStatus.AFFECTED)
    .map(({ record }) => ({ id: record.format === RecordFormat.OSV ? record.advisoryId : row.name, record }));
}

/** Reads the record of a public id, whose parts may be in several groups. `found` may be its only advisory. */
async function readRecords(
  { sources, ecosystem, now }: OsvReading,
  session: Session,
  publicId: string,
  found?: FoundAdvisory,
): Promise<OsvRecord[]> {
  const index = termIndex("advisoryIds", [publicId]);
  const rows = await listRows(session, advisoryCollection, {
    sources,
    filters: {},
    plans: sources.map(() => ({ index })),
    after: undefined,
    skip: 0,
    limit: mostProducts,
    order: { field: "uid", descending: false },
  });
  const isRead = found && rows.length === 1 && rows[0]!.uid === found.row.uid;
  const statements = isRead ? [found.statements] : await readStatements(session, rows);
  const options = { id: "", author: "", ecosystem, time: now };
  const records: OsvRecord[] = [];
  for await (const record of osvRecordsOf(each(statements), options, { add: () => {} }))
    records.push({ ...publishedRecord(record), id: record.id, modified: record.modified });
  const [first] = rows;
  // Products that OSV cannot express, such as images, are still returned by id.
  return records.length === 0 && first ? [idsOnly(first)] : records;
}

function idsOnly({ name, aliases, createTime, updateTime }: AdvisoryRow): OsvRecord {
  const times = { modified: timeText(updateTime), published: timeText(createTime) };
  return { schema_version: schemaVersion, id: recordId(name), ...times, upstream: aliases, affected: [] };
}

async function* each(statements: readonly AdvisoryStatements[]): AsyncGenerator<AdvisoryStatements> {
  yield* statements;
}
