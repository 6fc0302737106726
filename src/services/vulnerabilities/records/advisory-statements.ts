// Lists advisories with the records from which they are derived.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { AdvisoryEventSchema } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  type AdvisoryStatements,
  AdvisoryStatementsSchema,
  type ListAdvisoryStatementsRequest,
  type Product,
  RecordFormat,
  StatementsView,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { partKey, partsOf, type RecordPart } from "../../../advisories/derive/parts.ts";
import { compareRecords } from "../../../advisories/digest.ts";
import { identityOf, productOfArtifact } from "../../../advisories/product.ts";
import { notFound } from "../../../aip/errors.ts";
import { formatPageToken } from "../../../aip/page-token.ts";
import { countFitting, effectivePageSize } from "../../../aip/pagination.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import { mapSliced, nextSlice } from "../../../base/slices.ts";
import type { Call } from "../../../pipeline/call.ts";
import { queryDigest, readToken } from "../../../resource/bound-page-token.ts";
import { listPage, type MakeItems, type Page } from "../../../resource/list-page.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import { readExportState } from "../../../storage/engine/export-states.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import { listRows } from "../../../storage/list/list-rows.ts";
import { findRecordsOf, type RecordRow, readRecords } from "../../../storage/vulnerabilities/records.ts";
import { type AdvisoryRow, advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { groupParents } from "../../iam/groups/groups.ts";
import { advisory, advisoryMessage, readStates } from "../advisories/advisories.ts";
import type { AdvisoryState } from "../advisories/advisory-state.ts";
import { eventMessage } from "../advisories/event-content.ts";
import { advisoryLimits } from "../limits.ts";
import { recordMessage, shownRecord } from "./linked-records.ts";

/** Reads a page of the advisories of a group. */
export async function pageOfStatements(context: ServiceContext, request: ListAdvisoryStatementsRequest, call: Call) {
  const { database } = context;
  const { parent } = request;
  const violations = newViolations();
  effectivePageSize(request.pageSize, violations);
  if (request.advisoryUids.length > advisoryLimits.namedAdvisories)
    violations.add("advisory_uids", `must not have more than ${advisoryLimits.namedAdvisories} items`);
  violations.throwIfAny();
  if (!(await findRow(database.session, groupCollection, parent))) throw notFound(groupParents.type, parent);
  const makeItems = request.view === StatementsView.PRODUCT ? makeProducts : makeStatements;
  return await database.read(async (session) => {
    const { state, changeTime } = await readExportState(session, parent);
    const read = request.advisoryUids.length > 0 ? namedPage : orderedPage;
    const { items, nextPageToken } = await read(context, request, { ...call, snapshot: session }, makeItems);
    const time = changeTime > 0 && { changeTime: toTimestamp(changeTime) };
    return { results: [...items], nextPageToken, state, ...time };
  });
}

type Statements = MessageInitShape<typeof AdvisoryStatementsSchema>;
type MakeStatements = MakeItems<AdvisoryRow, Statements>;
type SnapshotCall = Call & { readonly snapshot: Session };
type StatementsPage = Pick<Page<Statements>, "items" | "nextPageToken">;

function orderedPage(
  context: ServiceContext,
  request: ListAdvisoryStatementsRequest,
  call: SnapshotCall,
  makeItems: MakeStatements,
): Promise<StatementsPage> {
  return listPage(advisory, context, {
    call,
    request: { ...request, orderBy: "advisory_id", skip: 0 },
    selection: { sources: [{ type: "subtree", uid: request.parent }], filters: {} },
    makeItems,
  });
}

/** Reads the advisories that a request names, in its order. The value of a page token is the number of names that are done. */
async function namedPage(
  context: ServiceContext,
  request: ListAdvisoryStatementsRequest,
  call: SnapshotCall,
  makeItems: MakeStatements,
): Promise<StatementsPage> {
  const query = queryDigest(call, request);
  const done = Number(readToken(context, call, request.pageToken, query)?.value ?? 0);
  const asked = [...new Set(request.advisoryUids)].slice(done);
  const limit = effectivePageSize(request.pageSize, newViolations());
  const found = await findAdvisoriesBelow(call.snapshot, request.parent, asked);
  const rows = asked.flatMap((uid) => found.get(uid) ?? []).slice(0, limit);
  const items = await makeItems(call.snapshot, rows);
  const last = items.length < found.size ? rows[items.length - 1] : undefined;
  if (!last) return { items, nextPageToken: "" };
  const value = done + asked.indexOf(last.uid) + 1;
  const token = { issuedAt: context.clock(), query, order: "", value, uid: last.uid };
  return { items, nextPageToken: formatPageToken(context.pageTokenKey, token) };
}

async function findAdvisoriesBelow(session: Session, parent: string, uids: readonly string[]) {
  const rows = await listRows(session, advisoryCollection, {
    sources: [{ type: "subtree", uid: parent }],
    plans: [{ index: { name: "found", uids: uids.toSorted() } }],
    filters: {},
    order: { field: "uid", descending: false },
    after: undefined,
    skip: 0,
    limit: uids.length,
  });
  return new Map(rows.map((row) => [row.uid, row]));
}

function makeProducts(_session: Session, rows: readonly AdvisoryRow[]): Statements[] {
  return rows.map((row) => ({ advisory: { uid: row.uid, advisoryId: row.name }, product: productOf(row) }));
}

/** Returns the identity of the product of an advisory; that of one written with the API follows from its artifact. */
function productOf(row: AdvisoryRow): string {
  return row.product === "" ? identityOf(artifactProductOf(row)) : row.product;
}

function artifactProductOf(row: AdvisoryRow): Product {
  const { artifactName, artifactType, artifactArchitecture, componentName, componentType } = row;
  const artifact = { name: artifactName, type: artifactType, architecture: artifactArchitecture };
  return productOfArtifact(artifact, componentName === "" ? undefined : { name: componentName, type: componentType });
}

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
    return { advisory: advisoryMessage(state.row, state.events), records, product: productOf(state.row) };
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
  const { name, author } = row;
  return create(AdvisoryRecordSchema, {
    source: author,
    document: row.uid,
    vulnerability: name,
    format: RecordFormat.API,
    group: row.parent,
    aliases: row.aliases,
    advisoryId: name,

    statements: [{ product: artifactProductOf(row), events: shown, advisoryId: name }],
  });
}

/** Reads the statements of advisories, in the order of the rows. The advisories come without derived events, which repeat their records. */
export async function readStatements(session: Session, rows: readonly AdvisoryRow[]): Promise<AdvisoryStatements[]> {
  const found = await statementsOf(session, await readStates(session, rows, "written"));
  return found.map((statements) => create(AdvisoryStatementsSchema, statements));
}
