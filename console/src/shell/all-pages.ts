// All rows of a list, by pages.
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { callUnaryMethod } from "@connectrpc/connect-query";
import { whenAdmitted } from "../api/transport.ts";

/** The largest page that the server sends. */
const largestPage = 200;

/** A list without its page. */
export interface WholeList<I extends DescMessage, O extends DescMessage, Row> {
  readonly method: DescMethodUnary<I, O>;
  /** The filters and the order. */
  readonly request: MessageInitShape<I>;
  readonly rowsOf: (response: MessageShape<O>) => readonly Row[];
}

/** Returns the rows from one on, in parts, as long as they are asked for. */
export async function* rowsFrom<I extends DescMessage, O extends DescMessage, Row>(
  transport: Transport,
  { method, request, rowsOf }: WholeList<I, O, Row>,
  skip: number,
  signal: AbortSignal,
): AsyncGenerator<readonly Row[]> {
  // A page token keeps its place when rows come or go meanwhile; `skip` counts from it.
  let page: object = { skip };
  for (;;) {
    const sent = { ...request, ...page, pageSize: largestPage } as MessageInitShape<I>;
    const response = await whenAdmitted(() => callUnaryMethod(transport, method, sent, { signal }), signal);
    yield rowsOf(response);
    const { nextPageToken = "" } = response as { readonly nextPageToken?: string };
    if (nextPageToken === "") return;
    page = { pageToken: nextPageToken };
  }
}

/** Reads so many rows of a list, from one on. */
export async function readRows<Row>(parts: AsyncGenerator<readonly Row[]>, count: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const part of parts) {
    rows.push(...part);
    if (rows.length >= count) break;
  }
  return rows.slice(0, count);
}
