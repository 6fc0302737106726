// Calls the service of records in this process, and reads what a group has then.
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  BatchDeleteAdvisoryRecordsRequestSchema,
  type BatchDeleteAdvisoryRecordsResponse,
  CompleteDocumentRequestSchema,
  ImportAdvisoryRecordsRequestSchema,
  type ImportAdvisoryRecordsResponse,
  type RecordKey,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { toTimestamp } from "../../../../src/aip/timestamps.ts";
import type { Call } from "../../../../src/pipeline/call.ts";
import type { ServiceContext } from "../../../../src/resource/service-context.ts";
import { advisoryRecords } from "../../../../src/services/vulnerabilities/records/records.ts";
import { type AdvisoryEventRow, findAdvisoryEvents } from "../../../../src/storage/vulnerabilities/advisories.ts";
import { pagesOfAdvisories } from "../../../../src/storage/vulnerabilities/record-check.ts";
import { listRecords } from "../../../../src/storage/vulnerabilities/records.ts";
import type { TestServer } from "../../../harness/server.ts";

const call = { requestId: "test" } as Call;

/** Returns the methods of the service that write, without a transport. */
export function recordService({ server, clock }: Pick<TestServer, "server" | "clock">) {
  // The methods that write need nothing else.
  const { handlers } = advisoryRecords({ database: server.database, clock } as ServiceContext);
  const method = (name: string) => handlers[name] as unknown as (request: unknown, call: Call) => Promise<never>;
  return {
    async import(parent: string, records: readonly AdvisoryRecord[], dryRun = false) {
      const request = create(ImportAdvisoryRecordsRequestSchema, { parent, records: [...records], dryRun });
      const response: ImportAdvisoryRecordsResponse = await method("importAdvisoryRecords")(request, call);
      return response.results;
    },
    async complete(parent: string, about: { source: string; document: string }, modifyTime: number) {
      const version = { ...about, parent, modifyTime: toTimestamp(modifyTime) };
      await method("completeDocument")(create(CompleteDocumentRequestSchema, version), call);
    },
    async delete(
      parent: string,
      records: readonly (Pick<RecordKey, "source" | "document" | "vulnerability"> &
        Partial<Pick<RecordKey, "digest">>)[],
    ) {
      const request = create(BatchDeleteAdvisoryRecordsRequestSchema, {
        parent,
        records: records.map((key) => ({ ...key })),
      });
      const { deletedCount }: BatchDeleteAdvisoryRecordsResponse = await method("batchDeleteAdvisoryRecords")(
        request,
        call,
      );
      return deletedCount;
    },
  };
}

/** Returns all advisories that are in lists. */
export async function allAdvisories({ server }: Pick<TestServer, "server">) {
  return await server.database.read(async (session) => {
    const rows = [];
    for await (const page of pagesOfAdvisories(session)) rows.push(...page);
    return rows;
  });
}

/** Returns the state that does not depend on the time and order of imports: by group, without uids and times of this server. */
export async function contentsByGroup({ server }: Pick<TestServer, "server">): Promise<Map<string, unknown[]>> {
  return await server.database.read(async (session) => {
    const contents = new Map<string, unknown[]>();
    const add = (group: string, content: unknown) => contents.set(group, [...(contents.get(group) ?? []), content]);
    for await (const page of pagesOfAdvisories(session)) {
      const uids = page.map(({ uid }) => uid);
      const events = Map.groupBy(await findAdvisoryEvents(session, uids), ({ advisoryUid }) => advisoryUid);
      for (const { uid, parent, updateTime: _, ...row } of page)
        add(parent, { ...row, events: (events.get(uid) ?? []).map(contentOfEvent) });
    }
    const all = { from: "", to: "g", source: "", document: "", isWithdrawn: false, limit: 100_000 };
    const after = { parent: "", source: "", document: "", vulnerability: "" };
    for (const { parent, digest } of await listRecords(session, { ...all, after }, false)) add(parent, digest);
    return new Map([...contents].map(([group, list]) => [group, list.map((item) => JSON.stringify(item)).sort()]));
  });
}

function contentOfEvent({ createTime, author, reviewState, event, derived }: AdvisoryEventRow) {
  return { createTime, author, reviewState, event, derived };
}
