// `advisories import --prune`: deletes the records that their sources no longer have.
import {
  AdvisoryRecordsService,
  type RecordKey,
  RecordView,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { keyOf } from "../../../advisories/digest.ts";
import type { Session } from "../../client/session.ts";
import type { DocumentOptions } from "./documents.ts";
import type { RecordWriter, WriterOptions } from "./record-writer.ts";
import type { Pruning, Report } from "./report.ts";

/** The maximum number of records of a source that one import deletes: the greater of the two bounds. */
export interface PruneBound {
  readonly records: number;
  readonly percent: number;
  /** The bound in messages. */
  readonly text: string;
}

/** The bound on deletions without `--max-prune`. */
export const defaultBound: PruneBound = { records: 100, percent: 10, text: "100 records and more than 10 %" };

type Key = Omit<RecordKey, "$typeName">;

/** The most records that one request deletes. */
const maxDeleted = 1000;

/**
 * Deletes records that the sources of an import no longer have. Deletes nothing if a file or record was left out, because the source may
 * still have it.
 */
export async function prune(
  session: Session,
  options: WriterOptions & DocumentOptions,
  bound: PruneBound,
  writer: RecordWriter,
  report: Report,
): Promise<Pruning> {
  const reason = report.reasonIncomplete || (report.records === 0 ? "nothing was imported" : "");
  if (reason !== "") return { refused: reason, hint: "" };
  const sources = options.author === "" ? [...writer.sources].sort() : [options.author];
  const found: Key[] = [];
  for (const source of sources) {
    const { all, gone } = await goneOf(session, options, source, writer);
    if (gone.length > bound.records && gone.length > (all * bound.percent) / 100) {
      const counts = `${gone.length} of the ${all} records of ${JSON.stringify(source)} are not in what was imported`;
      return { refused: `${counts}, which is more than ${bound.text}`, hint: hintFor(gone.length) };
    }
    found.push(...gone);
  }
  if (options.dryRun) return { pruned: found.length, named: found.map(nameOf) };
  return { pruned: await deleteAll(session, options.group, found), named: [] };
}

const hintFor = (count: number) =>
  `  If the source has other files, import them together or name each of them with --author; else allow it with --max-prune ${count}.`;

/** Returns the records of a source that the import did not have, and how many the source has in all. */
async function goneOf(session: Session, { group, dryRun }: WriterOptions, source: string, writer: RecordWriter) {
  const client = await session.client(AdvisoryRecordsService);
  const gone: Key[] = [];
  let all = 0;
  let pageToken = "";
  do {
    const page = { parent: group, source, view: RecordView.BASIC, pageSize: maxDeleted, pageToken };
    const { records, nextPageToken } = await client.listAdvisoryRecords(page);
    all += records.length;
    for (const { document, vulnerability, digest } of records) {
      const key = { source, document, vulnerability };
      // In a dry run the server still has the records that the real import deletes as it completes documents.
      const isGone = !writer.has(keyOf(key)) && !(dryRun && writer.hasCompleted(source, document));
      if (isGone) gone.push({ ...key, digest });
    }
    pageToken = nextPageToken;
  } while (pageToken !== "");
  return { all, gone };
}

async function deleteAll(session: Session, parent: string, keys: readonly Key[]) {
  const client = await session.client(AdvisoryRecordsService);
  let deleted = 0;
  for (let from = 0; from < keys.length; from += maxDeleted) {
    const { deletedCount } = await client.batchDeleteAdvisoryRecords({
      parent,
      records: keys.slice(from, from + maxDeleted),
    });
    deleted += deletedCount;
  }
  return deleted;
}

function nameOf({ source, document, vulnerability }: Key): string {
  return document === vulnerability ? `${source}: ${document}` : `${source}: ${document}: ${vulnerability}`;
}
