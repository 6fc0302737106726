// Lists records, and advisories with the records from which they are derived.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { AdvisoryEventSchema } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  type AdvisoryRecordsService,
  type AdvisoryStatementsSchema,
  type ListAdvisoryRecordsRequest,
  type ListAdvisoryStatementsRequest,
  RecordFormat,
  RecordView,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { partKey, partsOf, type RecordPart } from "../../../advisories/derive/parts.ts";
import { compareRecords } from "../../../advisories/digest.ts";
import { productOfArtifact } from "../../../advisories/product.ts";
import { notFound } from "../../../aip/errors.ts";
import { formatPageToken } from "../../../aip/page-token.ts";
import { countFitting, defaultPageSize, effectivePageSize } from "../../../aip/pagination.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import { mapSliced, nextSlice } from "../../../base/slices.ts";
import type { Call } from "../../../pipeline/call.ts";
import { expensivePages } from "../../../pipeline/expensive.ts";
import type { Handlers } from "../../../pipeline/handlers.ts";
import { queryDigest, readToken } from "../../../resource/bound-page-token.ts";
import { listPage } from "../../../resource/list-page.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import { readExportState } from "../../../storage/engine/export-states.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import {
  findRecordsOf,
  listRecords,
  type RecordRow,
  type RecordRowKey,
  readRecords,
  type StoredCopy,
} from "../../../storage/vulnerabilities/records.ts";
import type { AdvisoryRow } from "../../../storage/vulnerabilities/rows.ts";
import { groupParents } from "../../iam/groups/groups.ts";
import { advisory, advisoryMessage, readStates } from "../advisories/advisories.ts";
import type { AdvisoryState } from "../advisories/advisory-state.ts";
import { eventMessage } from "../advisories/event-content.ts";
import { recordMessage } from "./linked-records.ts";

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

async function checkGroup(session: Session, parent: string): Promise<void> {
  if (!(await findRow(session, groupCollection, parent))) throw notFound(groupParents.type, parent);
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
  await checkGroup(database.session, parent);
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

async function pageOfStatements(context: ServiceContext, request: ListAdvisoryStatementsRequest, call: Call) {
  const { database } = context;
  const { parent } = request;
  const violations = newViolations();
  effectivePageSize(request.pageSize, violations);
  violations.throwIfAny();
  await checkGroup(database.session, parent);
  return await database.read(async (session) => {
    const { state, changeTime } = await readExportState(session, parent);
    const page = await listPage(advisory, context, {
      call: { ...call, snapshot: session },
      request: { ...request, orderBy: "advisory_id", skip: 0 },
      selection: { sources: [{ type: "subtree", uid: parent }], filters: {} },
      makeItems: makeStatements,
    });
    const { nextPageToken } = page;
    const results = [...page.items];
    return { results, nextPageToken, state, ...(changeTime > 0 && { changeTime: toTimestamp(changeTime) }) };
  });
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

/** Adds the server fields to a record. */
function shownRecord(
  record: AdvisoryRecord,
  filled: Pick<AdvisoryRecord, "digest" | "group">,
  parts = partsOf(record),
): AdvisoryRecord {
  for (const { advisoryId, statements } of parts) for (const statement of statements) statement.advisoryId = advisoryId;
  return Object.assign(record, filled);
}

type Statements = MessageInitShape<typeof AdvisoryStatementsSchema>;

/** How many advisories have their records read at once. */
const portion = 50;

/** Returns as many advisories of a page with their records as fit. */
async function makeStatements(session: Session, rows: readonly AdvisoryRow[]): Promise<Statements[]> {
  const found: Statements[] = [];
  for (let i = 0; i < rows.length; i += portion) {
    found.push(...(await statementsOf(session, await readStates(session, rows.slice(i, i + portion)))));
    const fitting = countFitting(found);
    if (fitting < found.length) return found.slice(0, fitting);
  }
  return found;
}

/** Reads the records of advisories. */
export async function statementsOf(session: Session, states: readonly AdvisoryState[]): Promise<Statements[]> {
  const linked = await findRecordsOf(
    session,
    states.map(({ row }) => row.uid),
  );
  const byAdvisory = Map.groupBy(linked, ({ advisoryUid }) => advisoryUid);
  const read = new Map<number, ReadRecord>();
  const unique = new Map(linked.map((each) => [each.id, each]));
  for await (const row of readRecords(session, [...unique.values()])) {
    await nextSlice();
    read.set(row.id, toReadRecord(row));
  }
  return await mapSliced(states, (state) => {
    const parts = (byAdvisory.get(state.row.uid) ?? []).flatMap(({ id }) => partFor(state.row, read.get(id)) ?? []);
    // Sorted: exports must not depend on the order of imports.
    const records = parts.sort(compareRecords);
    const written = recordOfEvents(state);
    if (written) records.push(written);
    return { advisory: advisoryMessage(state.row, state.events), records };
  });
}

interface ReadRecord {
  readonly record: AdvisoryRecord;
  readonly parts: ReadonlyMap<string, RecordPart>;
  /** The public id of the first part. */
  readonly first: string;
}

function toReadRecord(row: RecordRow): ReadRecord {
  const message = recordMessage(row);
  const parts = partsOf(message);
  const record = shownRecord(message, { digest: row.digest, group: row.parent }, parts);
  return { record, parts: new Map(parts.map((part) => [partKey(part), part])), first: partKey(parts[0]!) };
}

/** Returns the part of a record about the product of an advisory; the whole record if the advisory has its id. */
function partFor({ name, product }: AdvisoryRow, read: ReadRecord | undefined): AdvisoryRecord | undefined {
  const key = partKey({ advisoryId: name, identity: product });
  const part = read?.parts.get(key);
  if (!read || !part || read.record.withdrawTime) return undefined;
  const { record, first } = read;
  if (key === first && record.advisoryId === name) return record;
  return create(AdvisoryRecordSchema, { ...record, statements: [...part.statements] });
}

/** Returns the events that were written with the API as a record; undefined if there are none. */
function recordOfEvents({ row, events }: AdvisoryState): AdvisoryRecord | undefined {
  const written = events.filter(({ derived }) => !derived).map(eventMessage);
  const shown = written.filter((event) => event !== undefined).map((event) => create(AdvisoryEventSchema, event));
  if (shown.length === 0) return undefined;
  const { name, author, artifactName, artifactType, artifactArchitecture, componentName, componentType } = row;
  const artifact = { name: artifactName, type: artifactType, architecture: artifactArchitecture };
  const component = componentName === "" ? undefined : { name: componentName, type: componentType };
  return create(AdvisoryRecordSchema, {
    source: author,
    document: row.uid,
    vulnerability: name,
    format: RecordFormat.API,
    group: row.parent,
    aliases: row.aliases,
    advisoryId: name,

    statements: [{ product: productOfArtifact(artifact, component), events: shown, advisoryId: name }],
  });
}
