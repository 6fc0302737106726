// The calls of an import. One whose response did not arrive is made again, and has the results of the first one.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type {
  AdvisoryRecord,
  AdvisoryRecordsService,
  CompleteDocumentRequestSchema,
  RecordResult,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import type { newPatience } from "./patience.ts";

/** The server's response about the records of a request. */
export interface Answered {
  readonly results: readonly RecordResult[];
  /** The server's time for the request, in milliseconds. */
  readonly workMs: number;
}

type Version = Omit<MessageInitShape<typeof CompleteDocumentRequestSchema>, "$typeName" | "parent" | "dryRun">;

/** Returns functions for the calls of an import. */
export function newRecordCalls(
  client: Client<typeof AdvisoryRecordsService>,
  { group: parent, dryRun }: { readonly group: string; readonly dryRun: boolean },
  patiently: ReturnType<typeof newPatience>,
) {
  let started: Promise<Timestamp | undefined> | undefined;

  /** Returns the start of the import by the clock of the server: records stored from then on belong to this import. */
  async function startOf(record: AdvisoryRecord): Promise<Timestamp | undefined> {
    const trial = { parent, records: [record], dryRun: true };
    return (await patiently((_, options) => client.importAdvisoryRecords(trial, options))).startTime;
  }

  return {
    async send(records: AdvisoryRecord[]): Promise<Answered> {
      started ??= startOf(records[0]!);
      const since = await started;
      const { results, startTime, endTime } = await patiently((isRepeat, options) =>
        client.importAdvisoryRecords(
          { parent, records, dryRun, ...(isRepeat && since && { repeatSince: since }) },
          options,
        ),
      );
      return { results, workMs: startTime && endTime ? fromTimestamp(endTime) - fromTimestamp(startTime) : 0 };
    },
    /** Completes a document. Returns how many records of earlier versions were deleted. */
    async complete(version: Version): Promise<number> {
      const request = { ...version, parent, dryRun };
      return (await patiently((_, options) => client.completeDocument(request, options))).deletedCount;
    },
  };
}
