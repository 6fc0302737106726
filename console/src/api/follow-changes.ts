// Follows the change log of an organization for all tabs of the browser.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { callUnaryMethod } from "@connectrpc/connect-query";
import {
  type Change,
  ChangesService,
  WatchChangesRequestSchema,
} from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { watchChanges } from "../../../packages/client/src/watch.ts";
import { type Following, type News, pauseMs } from "./live-news.ts";
import { transport } from "./transport.ts";

const { listChanges } = ChangesService.method;

type Tell = (news: News) => void;

/** How long a tab polls before it tries the stream again, in milliseconds. */
const pollingMs = 60_000;

/** The server sends something every 15 seconds. A stream that is silent for longer, in milliseconds, is held up by a proxy. */
const maxSilenceMs = 20_000;

/** Reads the stream. Where that fails, as behind a proxy that holds it up, polls for a while. */
export async function followChanges(following: Following, signal: AbortSignal, tellAll: Tell): Promise<void> {
  while (!signal.aborted) {
    await readStream(following, signal, tellAll).catch(() => {});
    const until = performance.now() + pollingMs;
    while (!signal.aborted && performance.now() < until) {
      await look(following, signal, tellAll).catch(() => {
        // The log no longer has what came after, or the server does not respond: begin anew.
        following.after = "";
      });
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** Tells the tabs what changes until the stream fails several times in a row. */
async function readStream(following: Following, signal: AbortSignal, tellAll: Tell): Promise<void> {
  let isOpen = false;
  // An open stream without changes means that the page is up to date.
  const ticker = setInterval(() => isOpen && navigator.onLine && tellAll(newsOf(following)), pauseMs);
  const open = (after: string, ended: AbortSignal) => openStream({ parent: following.organization, after }, ended);
  const options = { after: following.after, signal, retries: 3, maxSilenceMs, maxDelayMs: pauseMs };
  const onDelay = () => {
    isOpen = false;
  };
  try {
    for await (const { changes, resumeAfter, accessChanged } of watchChanges(open, { ...options, onDelay })) {
      isOpen = true;
      tellAll(advance(following, changes, resumeAfter, accessChanged));
    }
  } finally {
    clearInterval(ticker);
  }
}

/** A client of the service would be another part of the page to load. */
async function* openStream(request: MessageInitShape<typeof WatchChangesRequestSchema>, signal: AbortSignal) {
  const input = create(WatchChangesRequestSchema, request);
  const { message } = await transport.stream(ChangesService.method.watchChanges, signal, 0, undefined, only(input));
  yield* message;
}

async function* only<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/** Tells all tabs what has changed since the last look. */
async function look(following: Following, signal: AbortSignal, tellAll: Tell): Promise<void> {
  const { organization, after } = following;
  const request = { parent: organization, after, pageSize: after === "" ? 1 : 200 };
  const { changes, resumeAfter } = await callUnaryMethod(transport, listChanges, request, { signal });
  tellAll(advance(following, after === "" ? [] : changes, resumeAfter, false));
}

/** Advances to a position, and returns the news. The first ones do not say what has changed since the page was read. */
function advance(following: Following, changes: readonly Change[], after: string, accessChanged: boolean): News {
  const since = following.after === "" || accessChanged ? Date.now() : 0;
  following.after = after;
  const deleted = changes.flatMap((change) => (change.after ? [] : change.resourceUid));
  const kinds = [...new Set(changes.map(({ kind }) => kind))];
  return { ...newsOf(following), kinds, deleted, since, isAccessChanged: accessChanged };
}

/** Returns the news that nothing has changed. */
function newsOf({ organization, after }: Following): News {
  return { organization, kinds: [], deleted: [], since: 0, isAccessChanged: false, time: Date.now(), after };
}
