// A list of the API by pages: how it is read, and what of it the address shows.
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import type { ListOrder } from "./columns.ts";
import { pageSize, pagesOf } from "./pager.tsx";

/** The part of an address that a list has. */
export interface ListAddress {
  readonly page?: number;
  readonly order?: string;
}

/** How a list is read. */
export interface ListSource<I extends DescMessage, O extends DescMessage, Row> {
  readonly method: DescMethodUnary<I, O>;
  /** The filters. Order and page come from the address. */
  readonly request: MessageInitShape<I>;
  readonly rowsOf: (response: MessageShape<O>) => readonly Row[];
  /** The order of an address without one. Lists that the server cannot sort have none. */
  readonly order?: string;
  readonly isEnabled?: boolean;
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

/** The fields of requests and responses that all lists have. */
interface PageFields {
  readonly totalCount?: bigint;
}

/** Returns a page of a list, with its order and the ways to other pages. What was read stays while another page is read. */
export function usePagedList<I extends DescMessage, O extends DescMessage, Row>({
  method,
  request,
  rowsOf,
  order,
  isEnabled = true,
  address,
  onAddress,
  ...options
}: ListSource<I, O, Row>) {
  const by = address.order ?? order;
  const { skip } = pagesOf(address.page, undefined, () => {});
  const sent = { ...request, ...(by !== undefined && { orderBy: by }), pageSize, skip } as MessageInitShape<I>;
  const { data, error, refetch } = useQuery(method, sent, {
    enabled: isEnabled,
    placeholderData: (before) => before,
    ...options,
  });
  const rows = data && rowsOf(data);
  const total = data && Number((data as PageFields).totalCount ?? 0);
  const pages = pagesOf(address.page, total, (page) => void onAddress({ page }));
  const sort = (next: string) => void onAddress({ order: next === order ? undefined : next, page: undefined });
  return {
    rows,
    total,
    error,
    onRetry: () => void refetch(),
    /** The request of this page. */
    request: sent,
    order: by === undefined ? undefined : ({ by, onChange: sort } satisfies ListOrder),
    pages: { ...pages, count: rows?.length ?? 0 },
  };
}
