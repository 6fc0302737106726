// Streams the audit log of a group.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ChangesService,
  WatchChangesRequest,
  WatchChangesResponseSchema,
} from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { newViolations } from "../../../aip/violations.ts";
import { rootOf } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { StreamContext, StreamHandlers } from "../../../pipeline/handlers.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import type { ChangeCursors } from "../change-cursors.ts";
import { checkNamed } from "../change-filter.ts";
import type { ChangeReader } from "./change-reader.ts";
import { openSource } from "./change-source.ts";
import { LiveVisibility } from "./live-visibility.ts";
import type { WatchAdmission } from "./watch-admission.ts";

/** The dependencies of streams of changes. */
export interface WatchContext extends ServiceContext {
  readonly watches: { readonly reader: ChangeReader; readonly admission: WatchAdmission };
}

type Response = MessageInitShape<typeof WatchChangesResponseSchema>;

/** Returns the handlers of streams. */
export function watchHandlers(context: WatchContext, cursors: ChangeCursors): StreamHandlers<typeof ChangesService> {
  return { watchChanges: (request, call, stream) => watchChanges(context, cursors, request, call, stream) };
}

async function* watchChanges(
  context: WatchContext,
  cursors: ChangeCursors,
  request: WatchChangesRequest,
  call: Call,
  stream: StreamContext,
): AsyncGenerator<Response, void> {
  const { database, watches } = context;
  const { parent } = request;
  const violations = newViolations();
  violations.addAll(checkNamed(request));
  violations.throwIfAny();
  using _place = watches.admission.enter(callerOf(call).uid);
  // A stream can begin as soon as access was granted, on any server.
  await stream.renewAccess(await database.accessEpoch.latest());
  const visible = new LiveVisibility(call, parent);
  const source = await openSource(context, cursors, request, call);
  const { watcher } = source;
  const respond = (response: Response): Response => {
    return { ...response, resumeAfter: cursors.format(source.position, rootOf(parent)) };
  };
  using _watched = source;
  yield respond({});
  while (watcher.ending || !call.signal?.aborted) {
    const batch = await source.next(stream);
    if (!batch) continue;
    // Not before the changes were read: what was revoked before a change was made hides that change.
    await stream.renewAccess(Math.max(batch.epoch, await database.accessEpoch.current()));
    const accessChanged = visible.update();
    const changes = batch.found.flatMap((change) => visible.messageOf(change) ?? []);
    source.position = batch.to;
    if (changes.length > 0 || accessChanged || watcher.isDue) {
      watcher.isDue = false;
      yield respond({ changes, accessChanged });
      watcher.sentAt = performance.now();
    }
    if (!batch.hasMore) await watcher.woken();
  }
}
