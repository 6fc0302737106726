// Reads the pages of an export from the API, as one sequence for a writer.
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryStatements,
  AdvisoryStatementsSchema,
  type ListAdvisoryRecordsResponse,
  type ListAdvisoryStatementsResponse,
  RecordFormat,
} from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { nextSlice } from "../base/slices.ts";

/** The formats of exports. */
export const exportFormats = ["osv", "openvex", "csaf", "secdb"] as const;

/** The format of an export. */
export type ExportFormat = (typeof exportFormats)[number];

/** Asks the API for pages. The first has an empty token. */
export interface ExportSource {
  /** `ListAdvisoryStatements` of the group. */
  statements(pageToken: string): Promise<ListAdvisoryStatementsResponse>;
  /** `ListAdvisoryRecords` of the group and of those below it: whole records, and only withdrawn ones. */
  withdrawnRecords(pageToken: string): Promise<ListAdvisoryRecordsResponse>;
}

/**
 * Returns the advisories of a group in the order of their public ids; for OSV, then the records that OSV sources have withdrawn, each
 * without an advisory. One page is in memory at a time. They can be read several times.
 */
export function exportedAdvisories(source: ExportSource, format: ExportFormat): AsyncIterable<AdvisoryStatements> {
  return { [Symbol.asyncIterator]: () => readAdvisories(source, format) };
}

async function* readAdvisories(source: ExportSource, format: ExportFormat): AsyncGenerator<AdvisoryStatements> {
  for await (const { results } of pagesOf((token) => source.statements(token)))
    for (const result of results) {
      await nextSlice();
      yield result;
    }
  if (format !== "osv") return;
  for await (const { records } of pagesOf((token) => source.withdrawnRecords(token))) {
    for (const record of records) {
      await nextSlice();
      if (record.format === RecordFormat.OSV) yield create(AdvisoryStatementsSchema, { records: [record] });
    }
  }
}

/** Reads all pages of a list, the first with an empty token. */
export async function* pagesOf<P extends { readonly nextPageToken: string }>(
  read: (pageToken: string) => Promise<P>,
): AsyncGenerator<P> {
  let pageToken = "";
  do {
    const page = await read(pageToken);
    yield page;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}
