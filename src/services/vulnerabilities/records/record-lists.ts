// Lists records, and advisories with their statements.
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  type AdvisoryRecordsService,
  type ListAdvisoryRecordsRequest,
  type RecordFormat,
  RecordView,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { notFound } from "../../../aip/errors.ts";
import { formatPageToken } from "../../../aip/page-token.ts";
import { countFitting, defaultPageSize } from "../../../aip/pagination.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import type { Call } from "../../../pipeline/call.ts";
import { expensivePages } from "../../../pipeline/expensive.ts";
import type { Handlers } from "../../../pipeline/handlers.ts";
import { queryDigest, readToken } from "../../../resource/bound-page-token.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import {
  listRecords,
  type RecordRow,
  type RecordRowKey,
  type StoredCopy,
} from "../../../storage/vulnerabilities/records.ts";
import { groupParents } from "../../iam/groups/groups.ts";
import { pageOfStatements } from "./advisory-statements.ts";
import { recordMessage, shownRecord } from "./linked-records.ts";

type ListHandlers = Pick<Handlers<typeof AdvisoryRecordsService>, "listAdvisoryRecords" | "listAdvisoryStatements">;

/** The maximum number of records of a page. */
const maxRecords = 1000;

/** Returns the two list handlers. */
export function recordLists(context: ServiceContext): ListHandlers {
  return expensivePages({
    listAdvisoryRecords: (request, call) => pageOfRecords(context, request, call),
    listAdvisoryStatements: (request, call) => pageOfStatements(context, request, call),
  });
}

async function pageOfRecords(context: ServiceContext, request: ListAdvisoryRecordsRequest, call: Call) {
  const { database, clock, pageTokenKey } = context;
  const { parent, source, document, recursive, withdrawn, view } = request;
  const violations = newViolations();
  if (request.pageSize < 0) violations.add("page_size", "must not be negative");
  violations.throwIfAny();
  const limit = Math.min(request.pageSize || defaultPageSize, maxRecords);
  const query = queryDigest(call, request);
  const token = readToken(context, call, request.pageToken, query);
  if (!(await findRow(database.session, groupCollection, parent))) throw notFound(groupParents.type, parent);
  const isWhole = view === RecordView.FULL;
  const listing = {
    from: parent,
    to: recursive ? `${parent}0` : `${parent}/`,
    source,
    document,
    isWithdrawn: withdrawn,
    after: token ? keyOfToken(token.uid, String(token.value)) : noKey,
    limit: limit + 1,
  };
  const found = await database.read((session) => listRecords(session, listing, isWhole));
  const shown = found.slice(0, limit).map((row) => listedRecord(row, isWhole));
  const records = shown.slice(0, countFitting(shown));
  const last = records.length < found.length ? found[records.length - 1] : undefined;
  const nextPageToken = last
    ? formatPageToken(pageTokenKey, { issuedAt: clock(), query, order: "", ...tokenOfKey(last) })
    : "";
  return { records, nextPageToken };
}

const noKey: RecordRowKey = { parent: "", source: "", document: "", vulnerability: "" };

/** Formats a key for a page token. The texts of a key contain no newlines. */
function tokenOfKey({ parent, source, document, vulnerability }: RecordRowKey) {
  return { uid: parent, value: [source, document, vulnerability].join("\n") };
}

function keyOfToken(parent: string, value: string): RecordRowKey {
  const [source = "", document = "", vulnerability = ""] = value.split("\n");
  return { parent, source, document, vulnerability };
}

function listedRecord(row: StoredCopy | RecordRow, isWhole: boolean): AdvisoryRecord {
  const { digest, parent: group } = row;
  if (isWhole) return shownRecord(recordMessage(row as RecordRow), { digest, group });
  const { source, document, vulnerability, format, publishTime, modifyTime, modifyNanos, withdrawTime, revision } = row;
  return create(AdvisoryRecordSchema, {
    source,
    document,
    vulnerability,
    digest,
    group,
    revision: BigInt(revision),
    format: format as RecordFormat,
    ...(publishTime !== null && { publishTime: toTimestamp(publishTime) }),
    ...(modifyTime !== null && { modifyTime: timestampOf(modifyTime, modifyNanos) }),
    ...(withdrawTime !== null && { withdrawTime: toTimestamp(withdrawTime) }),
  });
}

function timestampOf(milliseconds: number, nanos: number) {
  const timestamp = toTimestamp(milliseconds);
  return { ...timestamp, nanos: timestamp.nanos + nanos };
}
