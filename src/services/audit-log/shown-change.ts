// Shows an entry of the change log as the API does.
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { Change, ChangeSchema } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import type { findChanges } from "../../storage/change-log/history.ts";
import type { ChangeCursors } from "./change-cursors.ts";
import { rowViews } from "./row-views.ts";
import type { SpokenChange } from "./sentences.ts";
import { shownMethod } from "./shown-method.ts";

/** A change as the API shows it, perhaps without its sentence. */
export type Shown = Exclude<MessageInitShape<typeof ChangeSchema>, Change> & SpokenChange;

/** A change as it is stored. */
export type StoredChange = Awaited<ReturnType<typeof findChanges>>[number];

/** Shows a change, with or without the claims of its actor. */
export function show(change: StoredChange, cursors: ChangeCursors, withClaims: boolean): Shown {
  const { time, actor, actorClaims, method, requestId, kind, uid, groupUid, before, after } = change;
  return {
    id: cursors.id(change),
    time: toTimestamp(time),
    actorUid: actor,
    actorClaims: withClaims ? { ...actorClaims } : {},
    method: shownMethod(method, groupUid),
    requestId,
    kind,
    resourceUid: uid,
    groupUid,
    ...(before !== null && { before: shownRow(kind, before) }),
    ...(after !== null && { after: shownRow(kind, after) }),
  };
}

/** Converts a row; empty for a kind without a view. */
function shownRow(kind: string, row: unknown): JsonObject {
  try {
    return rowViews.get(kind)?.show(row) ?? {};
  } catch {
    // A row of an earlier version may lack fields. It must not make the whole list fail.
    return {};
  }
}
