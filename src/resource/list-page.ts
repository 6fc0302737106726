// Reads one page of a list: AIP-158 paging over the rows that selection.ts selects.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { type OrderBy, parseOrderBy } from "../aip/order-by.ts";
import { formatPageToken, type PageToken } from "../aip/page-token.ts";
import { countFitting, effectivePageSize, effectiveSkip } from "../aip/pagination.ts";
import { newViolations } from "../aip/violations.ts";
import { memoizeFrozen } from "../base/memoize-frozen.ts";
import { accessOf } from "../pipeline/authorize.ts";
import type { Call } from "../pipeline/call.ts";
import type { ResourceRow } from "../storage/collection/collection.ts";
import type { Session } from "../storage/engine/session.ts";
import { type Condition, cursorOf, type SortField, type Source } from "../storage/list/list-rows.ts";
import { queryDigest, readToken } from "./bound-page-token.ts";
import type { ReadableResource } from "./resource.ts";
import type { ServiceContext } from "./service-context.ts";

/** The paging fields that every list request has. */
export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
  readonly orderBy: string;
  readonly skip: number;
}

/** One page of a list, as the response shows it. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string;
  readonly totalCount: bigint;
  readonly skipped: number;
}

/**
 * Makes the items of a page from its rows, in the same order. AIP-158: a page may have fewer items than requested. It ends
 * before the response would be too large, but has at least one item.
 */
export type MakeItems<R, T> = (session: Session, rows: readonly R[]) => Promise<readonly T[]> | readonly T[];

/** Returns as many of the rows as fit into a response. */
export function rowsThatFit<R>(_session: Session, rows: readonly R[]): readonly R[] {
  const count = countThatFit(rows);
  return count === rows.length ? rows : rows.slice(0, count);
}

const countThatFit = memoizeFrozen(countFitting);

/** Selects the rows of a list: by place in the tree, by column values and by a condition. */
export interface Selection {
  readonly sources: readonly Source[];
  readonly filters: Filters;
  readonly condition?: Condition | undefined;
}

/** Columns and their required values. An empty text or zero filters nothing. */
export type Filters = Readonly<Record<string, string | number>>;

/** The parameters of one List call. */
export interface ListOptions<R, T> {
  readonly call: Call;
  readonly request: PageRequest & Message;
  readonly selection: Selection;
  readonly makeItems: MakeItems<R, T>;
}

/** How long the same page token is returned for a cached page. Its lifetime of three days is shorter by up to this. */
const tokenReuseMs = 1000;

const byUid: OrderBy<SortField> = { field: "uid", descending: false };

/** Reads one page and the total count in one snapshot. */
export async function listPage<D extends DescMessage, R extends ResourceRow, T>(
  resource: ReadableResource<D, R>,
  context: ServiceContext,
  { call, request, selection, makeItems }: ListOptions<R, T>,
): Promise<Page<T>> {
  const { database, clock } = context;
  const { query, order, listing } = parseList(resource, context, call, request, selection);
  const page = await database.lists.page(resource.collection, listing, makeItems, call.snapshot);
  const { rows, hasMore, total, items } = page;
  const last = hasMore || items.length < rows.length ? rows[items.length - 1] : undefined;
  const cursor = last && cursorOf(last, order.field);
  const nextPageToken = cursor
    ? nextToken(context, rows, { issuedAt: clock(), query, order: formatStored(order), ...cursor })
    : "";
  return { items, nextPageToken, totalCount: BigInt(total), skipped: listing.skip };
}

/** Checks the paging fields of a request, and returns the query digest, the order and the listing for storage. */
function parseList<D extends DescMessage, R extends ResourceRow>(
  resource: ReadableResource<D, R>,
  context: ServiceContext,
  call: Call,
  request: PageRequest & Message,
  { sources, condition, filters: given }: Selection,
) {
  const violations = newViolations();
  const limit = effectivePageSize(request.pageSize, violations);
  const skip = effectiveSkip(request.skip, violations);
  const requested = parseOrderBy<SortField>(request.orderBy, resource.orderable, violations);
  violations.throwIfAny();
  const query = queryDigest(call, request);
  const token = readToken(context, call, request.pageToken, query, requested && formatStored(requested));
  const order = requested ?? (token ? parseStored(token.order) : (resource.defaultOrder ?? byUid));
  const filters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "" && value !== 0));
  const after = token && { value: token.value, uid: token.uid };
  // Security case I6: the order, and the tokens in which its values are, tell the names.
  const namedRoles = order.field === "roleName" ? accessOf(call).scope([Capability.CAP_IAM_ROLES_LIST]) : undefined;
  return { query, order, listing: { sources, filters, condition, order, namedRoles, after, skip, limit } };
}

const lastToken = memoizeFrozen((_rows: readonly unknown[]): { made?: PageToken; text: string } => ({ text: "" }));

/** Returns the token of the next page. A cached page reuses the last one for `tokenReuseMs` if query, order and row are equal. */
function nextToken(context: ServiceContext, rows: readonly unknown[], token: PageToken): string {
  const known = lastToken(rows);
  const { made } = known;
  const isSame =
    made?.query === token.query &&
    made.order === token.order &&
    made.uid === token.uid &&
    Math.abs(token.issuedAt - made.issuedAt) < tokenReuseMs;
  if (!isSame) {
    known.text = formatPageToken(context.pageTokenKey, token);
    known.made = token;
  }
  return known.text;
}

function formatStored({ field, descending }: OrderBy<SortField>): string {
  return descending ? `${field} desc` : field;
}

function parseStored(text: string): OrderBy<SortField> {
  const [field, direction] = text.split(" ");
  return { field: field as SortField, descending: direction === "desc" };
}
