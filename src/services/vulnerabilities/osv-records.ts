// The records of OSV that advisories stand for: those of OSV sources as they were, and of others what OSV can say.
import {
  type AdvisoryStatements,
  ProductStatus,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { recordId, schemaVersion } from "../../advisories/osv/names.ts";
import { type OsvRecord, osvRecordsOf } from "../../advisories/osv/write.ts";
import { timeText } from "../../advisories/times.ts";
import { termFinder } from "../../storage/advisory-terms.ts";
import { listRows, type Source } from "../../storage/listing.ts";
import type { Session } from "../../storage/session.ts";
import { readStatements } from "./advisory-statements.ts";
import type { FoundAdvisory } from "./package-search.ts";
import { type AdvisoryRow, advisoryCollection } from "./rows.ts";

/** Reads the records of OSV of one response. */
export interface OsvRecords {
  /** The records that say that the version is affected, without those that it has returned before. */
  of(found: FoundAdvisory): Promise<OsvRecord[]>;
  /** The record of this id; undefined when there is none. */
  get(id: string): Promise<OsvRecord | undefined>;
}

/** Advisories of one public id that are read: one for each product of a record, and for each group that has it. */
const mostProducts = 200;

/** What the records are read for. */
export interface OsvReading {
  readonly session: Session;
  /** What the caller may see. */
  readonly sources: readonly Source[];
  /** The ecosystem of packages of which nobody has said one: that of the query. */
  readonly ecosystem: string;
  /** For records of which nobody has said a time. */
  readonly now: number;
}

/** Opens a reader. */
export function newOsvRecords(reading: OsvReading): OsvRecords {
  const returned = new Set<string>();
  const read = (publicId: string) => readRecords(reading, publicId);
  return {
    async of({ row, answer }) {
      const affected = answer.findings.filter(({ status }) => status === ProductStatus.AFFECTED);
      // A record of OSV has the public id of the advisory on its first product.
      const ids = affected.map(({ record }) => (record.format === RecordFormat.OSV ? record.advisoryId : row.name));
      const found: OsvRecord[] = [];
      for (const id of new Set(ids)) {
        if (returned.has(id)) continue;
        returned.add(id);
        found.push(...(await read(id)));
      }
      return found;
    },
    async get(id) {
      for (const publicId of id.startsWith("x_") ? [id.slice("x_".length), id] : [id]) {
        const record = (await read(publicId)).find((each) => each.id === id);
        if (record) return record;
      }
      return undefined;
    },
  };
}

/** The records of a public id: one, whose parts may be in several groups. */
async function readRecords({ session, sources, ecosystem, now }: OsvReading, publicId: string): Promise<OsvRecord[]> {
  const finder = termFinder("advisoryIds", [publicId]);
  const rows = await listRows(session, advisoryCollection, {
    ...{ sources, filters: {}, plans: sources.map(() => ({ finder })), after: undefined, skip: 0, limit: mostProducts },
    order: { field: "uid", descending: false },
  });
  const statements = await readStatements(session, rows);
  const options = { id: "", author: "", ecosystem, time: now };
  const records: OsvRecord[] = [];
  for await (const record of osvRecordsOf(each(statements), options, { add: () => {} })) records.push(record);
  const [first] = rows;
  // What OSV has no words for, such as an image, is not hidden for that.
  return records.length === 0 && first ? [idsOnly(first)] : records;
}

function idsOnly({ name, aliases, createTime, updateTime }: AdvisoryRow): OsvRecord {
  const times = { modified: timeText(updateTime), published: timeText(createTime) };
  return { schema_version: schemaVersion, id: recordId(name), ...times, upstream: aliases, affected: [] };
}

async function* each(statements: readonly AdvisoryStatements[]): AsyncGenerator<AdvisoryStatements> {
  yield* statements;
}
