// Pages of a short list that is read as a whole, such as the signing keys of an installation.
import type { Message } from "@bufbuild/protobuf";
import { formatPageToken } from "../aip/page-token.ts";
import { effectivePageSize } from "../aip/pagination.ts";
import { newViolations } from "../aip/violations.ts";
import { compareTexts } from "../base/compare-texts.ts";
import type { Call } from "../pipeline/call.ts";
import { queryDigest, readToken } from "./bound-page-token.ts";
import type { ServiceContext } from "./service-context.ts";

/** The position of a row in the list: the newest comes first, then the one with the smaller id. */
export interface TimePosition {
  /** In milliseconds since the epoch. */
  readonly time: number;
  readonly id: string;
}

/** Reads all rows, and returns the page that a request asks for. */
export async function cutPage<Row>(
  { clock, pageTokenKey }: Pick<ServiceContext, "clock" | "pageTokenKey">,
  call: Call,
  request: Message & { readonly pageSize: number; readonly pageToken: string },
  readAll: () => Promise<readonly Row[]>,
  positionOf: (row: Row) => TimePosition,
) {
  const violations = newViolations();
  const size = effectivePageSize(request.pageSize, violations);
  violations.throwIfAny();
  const query = queryDigest(call, request);
  const token = readToken({ clock, pageTokenKey }, call, request.pageToken, query);
  const all = (await readAll()).toSorted((a, b) => newestFirst(positionOf(a), positionOf(b)));
  const after = token && { time: Number(token.value), id: token.uid };
  const rest = after ? all.filter((row) => newestFirst(positionOf(row), after) > 0) : all;
  const last = rest.length > size ? positionOf(rest[size - 1]!) : undefined;
  return {
    rows: rest.slice(0, size),
    nextPageToken: last
      ? formatPageToken(pageTokenKey, { issuedAt: clock(), query, order: "", value: last.time, uid: last.id })
      : "",
    totalCount: BigInt(all.length),
  };
}

function newestFirst(a: TimePosition, b: TimePosition): number {
  return b.time - a.time || compareTexts(a.id, b.id);
}
