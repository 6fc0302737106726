// The changes of one stream: of what the reader keeps, and of the database if the stream is behind that.
import type { WatchChangesRequest } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { rootOf } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { StreamContext } from "../../../pipeline/handlers.ts";
import { endOfLog, type LogPosition } from "../../../storage/change-log/history.ts";
import type { Database } from "../../../storage/database.ts";
import type { ChangeCursors } from "../change-cursors.ts";
import { newChangeFilter } from "../change-filter.ts";
import { changeNotKept, isFollowable, parseCursor } from "../follow-position.ts";
import { type WatchedBatch, Watcher } from "./change-feed.ts";
import type { ChangeReader } from "./change-reader.ts";
import { readPastChanges } from "./past-changes.ts";

/** The dependencies of a source. */
export interface SourceContext {
  readonly database: Database;
  readonly watches: { readonly reader: ChangeReader };
}

/** The changes that a stream asks for, from its position on. */
export interface ChangeSource extends Disposable {
  readonly watcher: Watcher;
  /** The position up to which changes were sent. */
  position: LogPosition;
  /** Returns the next changes, perhaps none; undefined if the source has to be asked again. Throws the reason why the stream ends. */
  next(stream: StreamContext): Promise<WatchedBatch | undefined>;
}

/** Opens the source of a request. Throws INVALID_ARGUMENT or CHANGE_NOT_KEPT for positions that cannot be continued from. */
export async function openSource(
  { database, watches: { reader } }: SourceContext,
  cursors: ChangeCursors,
  request: WatchChangesRequest,
  call: Call,
): Promise<ChangeSource> {
  const organization = rootOf(request.parent);
  const start = await startOf(database, cursors, request.after, organization);
  const filter = newChangeFilter(request);
  // Names and outcomes are in the rows.
  const heads = newChangeFilter({ ...request, query: "", outcome: 0 });
  const watcher = new Watcher(heads, callerOf(call).token.expiresAt, call.isConnectionClosing);
  const watched = reader.watch(organization, watcher);
  const wake = () => watcher.wake();
  call.signal?.addEventListener("abort", wake);
  const source: ChangeSource = {
    watcher,
    position: start,
    async next(stream) {
      if (watcher.ending) throw watcher.ending;
      if (watcher.from === undefined) {
        await watcher.woken();
        return undefined;
      }
      const { position } = source;
      const isBehind = position.sequence < Math.max(watcher.from, watched.feed.from);
      return isBehind
        ? await stream.runInTurn(() => readPastChanges(database, cursors, organization, filter, position))
        : watched.feed.take(position, filter, reader.state);
    },
    [Symbol.dispose]() {
      call.signal?.removeEventListener("abort", wake);
      watched[Symbol.dispose]();
    },
  };
  return source;
}

async function startOf(
  database: Database,
  cursors: ChangeCursors,
  after: string,
  organization: string,
): Promise<LogPosition> {
  if (after === "") return await endOfLog(database.session);
  const cursor = parseCursor(cursors, "after", after, organization);
  if (!(await database.read((session) => isFollowable(session, cursor, organization)))) throw changeNotKept();
  return { sequence: cursor.sequence, time: cursor.time };
}
