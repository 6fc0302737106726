// Lists of resources (RFC 7644 §3.4.2).
import { setImmediate as nextTick } from "node:timers/promises";
import type { Session } from "../storage/engine/session.ts";
import type { ScimMembership } from "../storage/iam/scim-groups.ts";
import { findScimMemberships } from "../storage/iam/scim-groups.ts";
import type { ScimCondition, ScimPage } from "../storage/iam/scim-users.ts";
import type { EndpointResponse } from "../transport/pages/endpoints.ts";
import { listResponse } from "./discovery.ts";
import { type Filter, matches, planFilter } from "./filter.ts";
import { scimLimits } from "./limits.ts";
import {
  documentResponse,
  type List,
  type ListPart,
  type ListRange,
  readProjection,
  readRange,
  type ScimRequest,
  uidOf,
} from "./request.ts";
import { isSent, project, type ScimResource } from "./resource-json.ts";
import { scimError } from "./scim-error.ts";

/** The list of a kind of SCIM resources. */
export interface Listing<R extends { readonly uid: string }> {
  /** The columns that conditions may have. */
  readonly columns: readonly ScimCondition["column"][];
  readonly list: (session: Session, page: ScimPage) => Promise<R[]>;
  readonly count: (session: Session, page: Pick<ScimPage, "providerUid" | "condition">) => Promise<number>;
  /** The attribute with the memberships, in lower case, and the column by which they are found. */
  readonly memberships: { readonly attribute: string; readonly column: "groupUid" | "userUid" };
  readonly show: (row: R, memberships: readonly ScimMembership[], endpoint: string) => ScimResource;
}

/** How many rows are read at a time to compare them with a filter. */
const batch = 500;

/** How many rows are compared in one event-loop tick. */
const comparedPerTick = 50;

/** Returns the response to a request that lists these kinds of resources, one after the other (RFC 7644 §3.4.2.1). */
export async function respondWithList(request: ScimRequest, lists: readonly List[]): Promise<EndpointResponse> {
  const range = readRange(request);
  const resources: object[] = [];
  let total = 0;
  for (const list of lists) {
    const startIndex = Math.max(1, range.startIndex - total);
    const part = await list(request, { ...range, startIndex, count: range.count - resources.length });
    resources.push(...part.resources);
    total += part.total;
  }
  return documentResponse(listResponse(resources, total, range.startIndex));
}

/** Lists resources. */
export async function listResources<R extends { readonly uid: string }>(
  request: ScimRequest,
  { filter: wanted, startIndex, count }: ListRange,
  listing: Listing<R>,
): Promise<ListPart> {
  const { provider, session, endpoint } = request;
  const projection = readProjection(request);
  const { condition, filter } = planFilter(wanted, listing.columns, (id) => uidOf(request, id));
  const providerUid = provider.uid;
  const skip = startIndex - 1;
  const { rows, total } = filter
    ? await scan(request, listing, condition, filter, skip, count)
    : {
        rows: count === 0 ? [] : await listing.list(session, { providerUid, condition, skip, limit: count }),
        total: await listing.count(session, { providerUid, condition }),
      };
  const withMembers = isSent(projection, listing.memberships.attribute);
  const page = withMembers ? await withMemberships(session, listing, rows) : rows.map((row) => ({ row, members: [] }));
  const resources = page.map(({ row, members }) => project(listing.show(row, members, endpoint), projection));
  return { resources, total };
}

/** Compares rows with a filter that no index can answer. */
async function scan<R extends { readonly uid: string }>(
  { provider, session, endpoint }: ScimRequest,
  listing: Listing<R>,
  condition: ScimPage["condition"],
  filter: Filter,
  skip: number,
  count: number,
): Promise<{ rows: R[]; total: number }> {
  const needsMembers = JSON.stringify(filter).toLowerCase().includes(listing.memberships.attribute);
  const found: R[] = [];
  const compared = await listing.count(session, { providerUid: provider.uid, condition });
  if (compared > scimLimits.scannedRows)
    throw scimError(
      "tooMany",
      `no index answers the filter, and ${compared} resources are too many to compare: add eq for userName, externalId or displayName`,
    );
  for (let read = 0; read < scimLimits.scannedRows; read += batch) {
    const page = { providerUid: provider.uid, condition, skip: read, limit: batch };
    const rows = await listing.list(session, page);
    const members = needsMembers ? await membersOf(session, listing, rows) : new Map<string, ScimMembership[]>();
    for (const [i, row] of rows.entries()) {
      // Thousands of rows with many values must not block other requests.
      if (i % comparedPerTick === 0) await nextTick();
      if (matches(listing.show(row, members.get(row.uid) ?? [], endpoint), filter)) found.push(row);
    }
    if (rows.length < batch) break;
  }
  return { rows: found.slice(skip, skip + count), total: found.length };
}

async function membersOf<R extends { readonly uid: string }>(
  session: Session,
  { memberships: { column } }: Listing<R>,
  rows: readonly R[],
): Promise<Map<string, ScimMembership[]>> {
  const uids = rows.map(({ uid }) => uid);
  const found = await findScimMemberships(session, column, uids, scimLimits.membersOfPage + 1);
  if (found.length > scimLimits.membersOfPage)
    throw scimError("tooMany", "the filter compares too many members: add a condition with eq for id or displayName");
  return Map.groupBy(found, (each) => each[column]);
}

/** Returns the first rows whose memberships fit into a response together, at least one (RFC 7644 §3.4.2.4 allows fewer). */
async function withMemberships<R extends { readonly uid: string }>(
  session: Session,
  { memberships: { column } }: Listing<R>,
  rows: readonly R[],
): Promise<{ row: R; members: readonly ScimMembership[] }[]> {
  const [first] = rows;
  if (!first) return [];
  const uids = rows.map(({ uid }) => uid);
  const found = await findScimMemberships(session, column, uids, scimLimits.membersOfPage + 1);
  const cut = found[scimLimits.membersOfPage]?.[column];
  const whole = cut === undefined ? rows : rows.filter(({ uid }) => uid < cut);
  if (whole.length === 0)
    return [
      { row: first, members: await findScimMemberships(session, column, [first.uid], scimLimits.membersOfGroup) },
    ];
  const grouped = Map.groupBy(found, (each) => each[column]);
  return whole.map((row) => ({ row, members: grouped.get(row.uid) ?? [] }));
}
