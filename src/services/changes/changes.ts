import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import {
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
import type { Call } from "../../pipeline/call.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import type { Deps } from "../../resource/deps.ts";
import type { RowView } from "../../resource/logged-resource.ts";
import { queryDigest, readToken } from "../../resource/query-token.ts";
import { findChanges, isFollowable } from "../../storage/change-history.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import type { Session } from "../../storage/session.ts";
import { rootOf } from "../../uid.ts";
import { newChangeIds } from "./change-id.ts";
import { lookThrough } from "./look-through.ts";
import { rowViews } from "./row-views.ts";

/** Changes that are read whole at a time: each may have a large row before it and another after it. */
const portion = 10;

type Shown = MessageInitShape<typeof ChangeSchema>;
type Stored = Awaited<ReturnType<typeof findChanges>>[number];

/** Serves the change log. */
export function changes(deps: Deps): Implementation {
  const ids = newChangeIds(() => deps.pageTokenKey);
  const views = rowViews(deps);

  function numberOf(field: string, id: string): number {
    const sequence = ids.parse(id);
    if (sequence === undefined) throw invalidField(field, "is not the id of a change");
    return sequence;
  }

  /** Which change the page is behind, and what the request is besides. */
  function readRequest(request: ListChangesRequest, call: Call) {
    const violations = newViolations();
    const pageSize = effectivePageSize(request.pageSize, violations);
    violations.throwIfAny();
    const followed = request.after === "" ? undefined : numberOf("after", request.after);
    const query = queryDigest(call, request);
    const token = readToken(deps, call, request.pageToken, query);
    const behind = token ? numberOf("page_token", token.uid) : followed;
    return { pageSize, followed, query, behind, isFirst: token === undefined };
  }

  async function show(session: Session, change: Stored): Promise<Shown> {
    const { sequence, time, actor, actorClaims, method, requestId, kind, uid, groupUid } = change;
    const view = views.get(kind);
    return {
      id: ids.format(sequence),
      time: toTimestamp(time),
      actorUid: actor,
      actorClaims: { ...actorClaims },
      method,
      requestId,
      kind,
      resourceUid: uid,
      groupUid,
      before: await shownRow(view, change.before, session, time),
      after: await shownRow(view, change.after, session, time),
    };
  }

  /** As many of them as fit into a reply, in their order. */
  async function showAll(session: Session, sequences: readonly number[]): Promise<Shown[]> {
    const shown: Shown[] = [];
    for (let i = 0; i < sequences.length; i += portion) {
      const wanted = sequences.slice(i, i + portion);
      const found = new Map((await findChanges(session, wanted)).map((change) => [change.sequence, change]));
      for (const sequence of wanted) shown.push(await show(session, found.get(sequence)!));
      const fitting = countFitting(shown);
      if (fitting < shown.length) return shown.slice(0, fitting);
    }
    return shown;
  }

  async function list(
    request: ListChangesRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ListChangesResponseSchema>> {
    const { pageSize, followed, query, behind, isFirst } = readRequest(request, call);
    return await deps.database.read(async (session) => {
      if (followed !== undefined && !(await isFollowable(session, rootOf(request.parent), followed))) throw gone();
      const looked = await lookThrough(session, request, { isFollowed: followed !== undefined, behind, pageSize });
      const shown = await showAll(session, looked.found);
      // What is too much for one reply is for the next page.
      const isCut = shown.length < looked.found.length;
      const last = isCut ? looked.found[shown.length - 1] : looked.last;
      const hasMore = isCut || looked.hasMore;
      const token = { issuedAt: deps.clock(), query, order: "", value: "" };
      const resumed = followed === undefined ? (isFirst ? looked.first : undefined) : (last ?? behind);
      return {
        changes: shown,
        nextPageToken:
          hasMore && last !== undefined ? formatPageToken(deps.pageTokenKey, { ...token, uid: ids.format(last) }) : "",
        resumeAfter: resumed === undefined ? "" : ids.format(resumed),
      };
    });
  }

  return implement(ChangesService, { listChanges: list });
}

/** Undefined when there is nothing to show. */
async function shownRow(
  view: RowView | undefined,
  row: unknown,
  session: Session,
  time: number,
): Promise<JsonObject | undefined> {
  if (!view || row === null) return undefined;
  try {
    return await view.show(row, session, time);
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error;
    // A row of an earlier version may lack what is shown today, and must not keep all other changes from being listed.
    return undefined;
  }
}

/** Changes are kept as long as the operator says (docs/decisions/0030-how-long-changes-are-kept.md), and backups know less. */
function gone() {
  return failedPrecondition(
    "CHANGE_NOT_KEPT",
    "the change that `after` names is not there any more, and what followed it may not be either; begin anew without it",
    "after",
  );
}
