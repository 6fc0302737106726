// A change as streams send it: converted once for all of them.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Change, ChangeSchema } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { textLength } from "../../../aip/text-length.ts";
import { contentOf } from "../../../storage/change-log/history.ts";
import type { ChangeCursors } from "../change-cursors.ts";
import type { Head } from "../change-filter.ts";
import { namelessSentence } from "../sentences.ts";
import { type StoredChange, show } from "../shown-change.ts";

/** A change for streams. */
export interface WatchedChange {
  readonly head: Head;
  /** The length of its texts. */
  readonly length: number;
  /** Returns the message, with or without the claims of the actor: the same object each time. */
  message(withClaims: boolean): Change;
}

/** Converts a stored change. */
export function toWatchedChange(change: StoredChange, cursors: ChangeCursors): WatchedChange {
  const { sequence, time, actor, method, kind, uid, groupUid } = change;
  const shown = show(change, cursors, true);
  const init: MessageInitShape<typeof ChangeSchema> = { ...shown, sentence: namelessSentence(shown) };
  const messages: Change[] = [];
  return {
    head: { sequence, time, actor, method, kind, uid, groupUid, ...contentOf(change) },
    length: textLength(init),
    message(withClaims) {
      const at = withClaims ? 1 : 0;
      messages[at] ??= create(ChangeSchema, withClaims ? init : { ...init, actorClaims: {} });
      return messages[at];
    },
  };
}
