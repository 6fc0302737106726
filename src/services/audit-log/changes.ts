import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ChangesService,
  type ListChangesRequest,
  type ListChangesResponseSchema,
} from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { formatPageToken } from "../../aip/page-token.ts";
import { countFitting, effectivePageSize } from "../../aip/pagination.ts";
import { newViolations } from "../../aip/violations.ts";
import { rootOf } from "../../model/uid.ts";
import type { Call } from "../../pipeline/call.ts";
import { allExpensive } from "../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { queryDigest, readToken } from "../../resource/bound-page-token.ts";
import { endOfLog, findChanges, type LogPosition } from "../../storage/change-log/history.ts";
import type { Session } from "../../storage/engine/session.ts";
import { type ChangeCursors, changeCursors } from "./change-cursors.ts";
import { changeRules, checkNamed, watchRules } from "./change-filter.ts";
import { changeNotKept, isFollowable, parseCursor } from "./follow-position.ts";
import { scanChanges } from "./scan-changes.ts";
import { sentencesOf } from "./sentences.ts";
import { type Shown, type StoredChange, show } from "./shown-change.ts";
import { type VisibleChanges, visibleChanges } from "./visible-changes.ts";
import { type WatchContext, watchHandlers } from "./watch/watch-changes.ts";

/** How many changes are read with their rows at once: both rows of each can be large. */
const batchSize = 10;

/** Serves the audit log. */
export function changes(context: WatchContext): Implementation {
  const cursors = changeCursors(() => context.pageTokenKey);

  /** Validates the request. `start` is the position after which its page starts. */
  function readRequest(request: ListChangesRequest, call: Call) {
    const violations = newViolations();
    const pageSize = effectivePageSize(request.pageSize, violations);
    violations.addAll(checkNamed(request));
    violations.throwIfAny();
    const organization = rootOf(request.parent);
    const after = request.after === "" ? undefined : parseCursor(cursors, "after", request.after, organization);
    const query = queryDigest(call, request);
    const token = readToken(context, call, request.pageToken, query);
    const start = token ? parseCursor(cursors, "page_token", token.uid, organization) : after;
    return { organization, pageSize, isFollowed: after !== undefined, query, start };
  }

  async function list(
    request: ListChangesRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ListChangesResponseSchema>> {
    const visible = visibleChanges(call, request.parent);
    const { organization, pageSize, isFollowed, query, start } = readRequest(request, call);
    return await context.database.read(async (session) => {
      if (isFollowed && start && !(await isFollowable(session, start, organization))) throw changeNotKept();
      const scanned = await scanChanges(session, request, { isFollowed, start: start?.sequence, pageSize, visible });
      const read = await showAll(session, scanned.found, cursors, visible);
      const told = withSentences(read, await sentencesOf(session, read, organization, call));
      const shown = told.slice(0, countFitting(told));
      // Changes that do not fit into the response go to the next page.
      const isCut = shown.length < scanned.found.length;
      const last = isCut ? scanned.found[shown.length - 1] : scanned.last;
      const next = isCut || scanned.hasMore ? last : undefined;
      // `resume_after` is the end of the log, or the end of this page if the caller follows the log and more pages remain.
      const resumed = isFollowed && next ? next : await endOfLog(session);
      const uid = next && cursors.format(next, organization);
      const token = { issuedAt: context.clock(), query, order: "", value: "" };
      return {
        changes: shown,
        nextPageToken: uid === undefined ? "" : formatPageToken(context.pageTokenKey, { ...token, uid }),
        resumeAfter: cursors.format(resumed, organization),
      };
    });
  }

  return {
    ...implement(ChangesService, allExpensive({ listChanges: list }), [changeRules, watchRules]),
    streams: watchHandlers(context, cursors),
  };
}

/** Returns as many of the changes as fit into a response, in order. */
async function showAll(
  session: Session,
  wanted: readonly LogPosition[],
  cursors: ChangeCursors,
  visible: VisibleChanges,
): Promise<Shown[]> {
  const shown: Shown[] = [];
  const showVisible = (change: StoredChange) => show(change, cursors, visible.showsClaims(change));
  for (let i = 0; i < wanted.length; i += batchSize) {
    const sequences = wanted.slice(i, i + batchSize).map(({ sequence }) => sequence);
    const found = new Map((await findChanges(session, sequences)).map((change) => [change.sequence, change]));
    shown.push(...sequences.map((sequence) => showVisible(found.get(sequence)!)));
    const fitting = countFitting(shown);
    if (fitting < shown.length) return shown.slice(0, fitting);
  }
  return shown;
}

function withSentences(changes: readonly Shown[], sentences: readonly NonNullable<Shown["sentence"]>[]): Shown[] {
  return changes.map((change, at) => ({ ...change, sentence: sentences[at]! }));
}
