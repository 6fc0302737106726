// A list of the API by pages: how it is read, and what of it the address shows.
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { createConnectQueryKey, createQueryOptions, useQuery, useTransport } from "@connectrpc/connect-query";
import { hashKey } from "@tanstack/react-query";
import { rowsFrom, type WholeList } from "./all-pages.ts";
import type { ListOrder } from "./columns.ts";
import { useListWindow } from "./list-window.ts";
import { pageSize, pagesOf } from "./pager.tsx";

/** The part of an address that a list has. */
export interface ListAddress {
  readonly page?: number;
  readonly order?: string;
}

/** How a list is read. */
export interface ListSource<I extends DescMessage, O extends DescMessage, Row> extends WholeList<I, O, Row> {
  /** The filters. Order and page come from the address. */
  readonly request: MessageInitShape<I>;
  /** The order of an address without one. Lists that the server cannot sort have none. */
  readonly order?: string;
  readonly isEnabled?: boolean;
  /** Whether the server skips rows at little cost in this order: then a long list scrolls as a whole. It does without a value. */
  readonly hasWindow?: boolean;
  readonly refetchInterval?: number;
  readonly address: ListAddress;
  readonly onAddress: (changes: { readonly [Name in keyof ListAddress]: ListAddress[Name] | undefined }) => unknown;
}

/** A list as Connect-Query returns it. */
export interface Listed<Row> {
  /** Undefined while it is read for the first time. */
  readonly rows: readonly Row[] | undefined;
  readonly error?: unknown;
  readonly onRetry?: () => void;
}

/** The fields that responses of all lists have. */
interface PageFields {
  readonly totalCount?: bigint;
  readonly skipped?: number;
}

/** The rows of a list beyond those of its page. */
export interface ListReader<Row> {
  /** Tells the list from one with other filters. */
  readonly id: string;
  /** Returns the rows from one on, in parts, in the order that the list has now. */
  readonly rowsFrom: (skip: number, signal: AbortSignal) => AsyncGenerator<readonly Row[]>;
}

/** Returns a page of a list, with its order and the ways to other pages. What was read stays while another page is read. */
export function usePagedList<I extends DescMessage, O extends DescMessage, Row>({
  method,
  request,
  rowsOf,
  order,
  isEnabled = true,
  hasWindow = true,
  address,
  onAddress,
  ...options
}: ListSource<I, O, Row>) {
  const transport = useTransport();
  const by = address.order ?? order;
  const { skip } = pagesOf(address.page, undefined, () => {});
  const ordered = { ...request, ...(by !== undefined && { orderBy: by }) } as MessageInitShape<I>;
  const sent = { ...ordered, pageSize, skip } as MessageInitShape<I>;
  const { data, error, refetch } = useQuery(method, sent, {
    enabled: isEnabled,
    placeholderData: (before) => before,
    ...options,
  });
  const rows = data && rowsOf(data);
  const { totalCount, skipped = skip } = (data ?? {}) as PageFields;
  const total = data && Number(totalCount ?? 0);
  const pages = pagesOf(address.page, total, (page) => void onAddress({ page }));
  const sort = (next: string) => void onAddress({ order: next === order ? undefined : next, page: undefined });
  const id = hashKey(createConnectQueryKey({ schema: method, input: request, cardinality: "finite" }));
  const window = useListWindow({
    id: `${id} ${by}`,
    isEnabled: isEnabled && hasWindow,
    total,
    start: skip,
    optionsOf: (from) => createQueryOptions(method, { ...sent, skip: from } as MessageInitShape<I>, { transport }),
    rowsOf,
  });
  const reader: ListReader<Row> = {
    id,
    rowsFrom: (from, signal) => rowsFrom(transport, { method, request: ordered, rowsOf }, from, signal),
  };
  return {
    /** The rows of the page, or those that a long list has in view. */
    rows: window ? window.rows.filter((row) => row !== undefined) : rows,
    window,
    reader,
    total,
    error,
    onRetry: () => void refetch(),
    /** The request of this page. */
    request: sent,
    order: by === undefined ? undefined : ({ by, onChange: sort } satisfies ListOrder),
    // Of the page that is shown: while another one is read, that is still the one before.
    pages: { ...pages, from: skipped + 1, count: rows?.length ?? 0 },
  };
}
