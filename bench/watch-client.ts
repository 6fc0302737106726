// The clients of `npm run bench -- watch`, in a process of their own: streams of changes of one group. Nothing is decoded while they run, so
// that the clients do not slow down what is measured. Reads one line of JSON from standard input, says `open`, and at the next line prints
// what came.
import { once } from "node:events";
import { type ClientHttp2Stream, connect } from "node:http2";
import { createInterface } from "node:readline";
import { fromBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  WatchChangesRequestSchema,
  type WatchChangesResponse,
  WatchChangesResponseSchema,
} from "../gen/gatehouse/changes/v1/changes_pb.ts";
import { frameOf, grpcHeaders } from "./grpc-frame.ts";

/** The streams to open: on a server, of a group, on a connection for each token. */
export interface WatchPlan {
  readonly url: string;
  readonly groupUid: string;
  /** A token for each connection. */
  readonly tokens: readonly string[];
  readonly streams: number;
}

/** The changes that came over all streams. */
export interface WatchReport {
  /** The number of different changes of each stream. */
  readonly received: readonly number[];
  /** The time from a change to one of its receipts, in milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
}

/** One stream, and what came over it. */
interface Stream {
  readonly chunks: { readonly time: number; readonly bytes: Buffer }[];
  readonly opened: Promise<unknown>;
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const plan: WatchPlan = JSON.parse((await lines.next()).value ?? "");
const sessions = plan.tokens.map((token) => ({ token, session: connect(plan.url) }));
const streams: Stream[] = [];
for (let i = 0; i < plan.streams; i++) {
  const { session, token } = sessions[i % sessions.length]!;
  const stream = open(
    session.request({
      ":method": "POST",
      ":path": "/gatehouse.changes.v1.ChangesService/WatchChanges",
      authorization: `Bearer ${token}`,
      ...grpcHeaders,
    }),
  );
  streams.push(stream);
  // A server admits so many at a time that all of them at once would measure the queue.
  await stream.opened;
}
console.log("open");
await lines.next();
process.stdout.write(`${JSON.stringify(reportOf(streams))}\n`, () => process.exit());

function open(request: ClientHttp2Stream): Stream {
  const chunks: { time: number; bytes: Buffer }[] = [];
  request.on("data", (bytes: Buffer) => chunks.push({ time: Date.now(), bytes }));
  request.end(frameOf(WatchChangesRequestSchema, { parent: plan.groupUid }));
  // An error ends the process: it comes without data.
  request.on("end", () => chunks.length > 0 || process.exit(1));
  return { chunks, opened: once(request, "data") };
}

function reportOf(streams: readonly Stream[]): WatchReport {
  const delaysMs: number[] = [];
  const received = streams.map((stream) => {
    const ids = new Set<string>();
    for (const { time, response } of responsesOf(stream))
      for (const { id, time: made } of response.changes) {
        ids.add(id);
        delaysMs.push(time - timestampMs(made!));
      }
    return ids.size;
  });
  const sorted = Float64Array.from(delaysMs).sort();
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return { received, p50Ms: at(0.5), p99Ms: at(0.99), longestMs: at(1) };
}

/** Yields the responses of a stream, each with the time at which its last byte came. */
function* responsesOf({
  chunks,
}: Stream): Generator<{ readonly time: number; readonly response: WatchChangesResponse }> {
  let rest = Buffer.alloc(0);
  for (const { time, bytes } of chunks) {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const end = rest.length < 5 ? Number.POSITIVE_INFINITY : 5 + rest.readUInt32BE(1);
      if (rest.length < end) break;
      yield { time, response: fromBinary(WatchChangesResponseSchema, rest.subarray(5, end)) };
      rest = rest.subarray(end);
    }
  }
}
