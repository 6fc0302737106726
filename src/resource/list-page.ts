// One page of a list: AIP-158 paging over the rows that selection.ts chose.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { type OrderBy, parseOrderBy } from "../aip/order-by.ts";
import { formatPageToken, type PageToken } from "../aip/page-token.ts";
import { countFitting, effectivePageSize, effectiveSkip } from "../aip/pagination.ts";
import { newViolations } from "../aip/violations.ts";
import { memoizeFrozen } from "../base/memoize-frozen.ts";
import type { Call } from "../pipeline/call.ts";
import type { ResourceRow } from "../storage/collection/collection.ts";
import type { Session } from "../storage/engine/session.ts";
import { type Condition, cursorOf, prepareSkip, type SortField, type Source } from "../storage/list/list-rows.ts";
import { queryDigest, readToken } from "./bound-page-token.ts";
import type { ReadableResource } from "./resource.ts";
import { readTogether, type ServiceContext } from "./service-context.ts";

/** The paging fields that every list request has. */
export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
  readonly orderBy: string;
  readonly skip: number;
}

/** One page of a list, as replies have it. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string;
  readonly totalCount: bigint;
  readonly skipped: number;
}

/**
 * Makes the items of a page from its rows, in their order. AIP-158: a page may have fewer than were asked for; it ends
 * before what would be too much for a reply, and after one item at the earliest.
 */
export type MakeItems<R, T> = (session: Session, rows: readonly R[]) => Promise<readonly T[]> | readonly T[];

/** The rows themselves, as many as fit. */
export function rowsThatFit<R>(_session: Session, rows: readonly R[]): readonly R[] {
  const count = countThatFit(rows);
  return count === rows.length ? rows : rows.slice(0, count);
}

const countThatFit = memoizeFrozen(countFitting);

/** The rows of a listing: where they lie, what their columns must hold, and what else is asked of them. */
export interface Selection {
  readonly sources: readonly Source[];
  readonly filters: Filters;
  readonly condition?: Condition | undefined;
}

/** Columns and the values that they must have; empty texts and zero numbers filter nothing. */
export type Filters = Readonly<Record<string, string | number>>;

/** For how long a token is given out: so much sooner it ends, of three days. */
const tokenReuseMs = 1000;

const byUid: OrderBy<SortField> = { field: "uid", descending: false };

/** Reads one page together with the total, both of one snapshot. */
export async function listPage<D extends DescMessage, R extends ResourceRow, T>(
  resource: ReadableResource<D, R>,
  context: ServiceContext,
  call: Call,
  request: PageRequest & Message,
  selection: Selection,
  fill: MakeItems<R, T>,
): Promise<Page<T>> {
  const violations = newViolations();
  const pageSize = effectivePageSize(request.pageSize, violations);
  const skip = effectiveSkip(request.skip, violations);
  const order = parseOrderBy<SortField>(request.orderBy, resource.orderable, violations);
  violations.throwIfAny();
  const query = queryDigest(call, request);
  const token = readToken(context, call, request.pageToken, query, order && formatStored(order));
  const effective = order ?? (token ? parseStored(token.order) : (resource.defaultOrder ?? byUid));
  const filters = Object.fromEntries(
    Object.entries(selection.filters).filter(([, value]) => value !== "" && value !== 0),
  );
  const { collection } = resource;
  const { milestones, pages } = context.database;
  const after = token && { value: token.value, uid: token.uid };
  const { sources, condition } = selection;
  const listing = { sources, filters, condition, order: effective, after, skip, limit: pageSize };
  await prepareSkip(milestones, collection, listing);
  const [{ rows, hasMore, total }, items] = await readTogether(context.database, call, async (session) => {
    const page = await pages.read(session, collection, listing);
    return [page, await fill(session, page.rows)] as const;
  });
  const last = hasMore || items.length < rows.length ? rows[items.length - 1] : undefined;
  const nextPageToken = last
    ? nextToken(context, rows, {
        issuedAt: context.clock(),
        query,
        order: formatStored(effective),
        ...cursorOf(last, effective.field),
      })
    : "";
  return { items, nextPageToken, totalCount: BigInt(total), skipped: skip };
}

const lastToken = memoizeFrozen((_rows: readonly unknown[]): { made?: PageToken; text: string } => ({ text: "" }));

/** The token of what follows a page. A frozen page has the same one for a while, where it is asked for in the same way. */
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
