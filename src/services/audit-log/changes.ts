import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import {
  type Change,
  type ChangeSchema,
  ChangesService,
  type ListChangesRequest,
  type ListChangesResponseSchema,
} from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { failedPrecondition, invalidField } from "../../aip/errors.ts";
import { formatPageToken } from "../../aip/page-token.ts";
import { countFitting, effectivePageSize } from "../../aip/pagination.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { newViolations } from "../../aip/violations.ts";
import { rootOf } from "../../model/uid.ts";
import type { Call } from "../../pipeline/call.ts";
import { allExpensive } from "../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { queryDigest, readToken } from "../../resource/bound-page-token.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { endOfLog, findChanges, findLogPosition, type LogPosition } from "../../storage/change-log/history.ts";
import { hasAllAfter } from "../../storage/change-log/removal.ts";
import type { Session } from "../../storage/engine/session.ts";
import { type ChangeCursors, changeCursors, type ParsedCursor } from "./change-cursors.ts";
import { changeRules, checkNamed } from "./change-filter.ts";
import { rowViews } from "./row-views.ts";
import { scanChanges } from "./scan-changes.ts";
import { type SpokenChange, sentencesOf } from "./sentences.ts";
import { shownMethod } from "./shown-method.ts";
import { type VisibleChanges, visibleChanges } from "./visible-changes.ts";

/** How many changes are read with their rows at once: both rows of each can be large. */
const batchSize = 10;

type Shown = Exclude<MessageInitShape<typeof ChangeSchema>, Change> & SpokenChange;
type Stored = Awaited<ReturnType<typeof findChanges>>[number];

/** Serves the audit log. */
export function changes(context: ServiceContext): Implementation {
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

  return implement(ChangesService, allExpensive({ listChanges: list }), [changeRules]);
}

function parseCursor(cursors: ChangeCursors, field: string, text: string, organization: string): ParsedCursor {
  const cursor = cursors.parse(text, organization);
  if (!cursor) throw invalidField(field, "is neither the id of a change nor a resume_after value");
  return cursor;
}

/** Whether the log still has all changes after a cursor. A cursor that names a change must be one of the organization. */
async function isFollowable(session: Session, cursor: ParsedCursor, organization: string): Promise<boolean> {
  if (!(await hasAllAfter(session, cursor))) return false;
  const found = cursor.isChange ? await findLogPosition(session, cursor.sequence) : undefined;
  return !found || rootOf(found.groupUid) === organization;
}

function changeNotKept() {
  return failedPrecondition(
    "CHANGE_NOT_KEPT",
    "the change that `after` names, or changes after it, were deleted by retention; list again without `after`",
    "after",
  );
}

/** Returns as many of the changes as fit into a response, in order. */
async function showAll(
  session: Session,
  wanted: readonly LogPosition[],
  cursors: ChangeCursors,
  visible: VisibleChanges,
): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (let i = 0; i < wanted.length; i += batchSize) {
    const sequences = wanted.slice(i, i + batchSize).map(({ sequence }) => sequence);
    const found = new Map((await findChanges(session, sequences)).map((change) => [change.sequence, change]));
    shown.push(...sequences.map((sequence) => show(found.get(sequence)!, cursors, visible)));
    const fitting = countFitting(shown);
    if (fitting < shown.length) return shown.slice(0, fitting);
  }
  return shown;
}

function withSentences(changes: readonly Shown[], sentences: readonly NonNullable<Shown["sentence"]>[]): Shown[] {
  return changes.map((change, at) => ({ ...change, sentence: sentences[at]! }));
}

function show(change: Stored, cursors: ChangeCursors, visible: VisibleChanges): Shown {
  const { time, actor, actorClaims, method, requestId, kind, uid, groupUid, before, after } = change;
  return {
    id: cursors.id(change),
    time: toTimestamp(time),
    actorUid: actor,
    actorClaims: visible.showsClaims(change) ? { ...actorClaims } : {},
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
