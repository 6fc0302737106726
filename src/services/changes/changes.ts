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
import { rootOf } from "../../model/uid.ts";
import type { Call } from "../../pipeline/call.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { queryDigest, readToken } from "../../resource/bound-page-token.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { endOfLog, findChanges, findLogPosition, type LogPosition } from "../../storage/change-log/history.ts";
import { hasAllAfter } from "../../storage/change-log/removal.ts";
import type { Session } from "../../storage/engine/session.ts";
import { type ChangePlaces, changePlaces, type NamedPlace } from "./change-cursors.ts";
import { rowViews } from "./row-views.ts";
import { lookThrough } from "./scan-changes.ts";

/** Changes that are read whole at a time: each may have a large row before it and another after it. */
const portion = 10;

type Shown = MessageInitShape<typeof ChangeSchema>;
type Stored = Awaited<ReturnType<typeof findChanges>>[number];

/** Serves the change log. */
export function changes(context: ServiceContext): Implementation {
  const places = changePlaces(() => context.pageTokenKey);

  /** What the request is about, and behind which change its page begins. */
  function readRequest(request: ListChangesRequest, call: Call) {
    const violations = newViolations();
    const pageSize = effectivePageSize(request.pageSize, violations);
    violations.throwIfAny();
    const organization = rootOf(request.parent);
    const after = request.after === "" ? undefined : readPlace(places, "after", request.after, organization);
    const query = queryDigest(call, request);
    const token = readToken(context, call, request.pageToken, query);
    const behind = token ? readPlace(places, "page_token", token.uid, organization) : after;
    return { organization, pageSize, isFollowed: after !== undefined, query, behind };
  }

  async function list(
    request: ListChangesRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ListChangesResponseSchema>> {
    const { organization, pageSize, isFollowed, query, behind } = readRequest(request, call);
    return await context.database.read(async (session) => {
      if (isFollowed && behind && !(await isFollowable(session, behind, organization))) throw notKept();
      const looked = await lookThrough(session, request, { isFollowed, behind: behind?.sequence, pageSize });
      const shown = await showAll(session, looked.found, places);
      // What is too much for one reply is for the next page.
      const isCut = shown.length < looked.found.length;
      const last = isCut ? looked.found[shown.length - 1] : looked.last;
      const next = isCut || looked.hasMore ? last : undefined;
      // Who has read the latest ones knows all up to the end, and who follows all up to the next page.
      const resumed = isFollowed && next ? next : await endOfLog(session);
      const uid = next && places.seal(next, organization);
      const token = { issuedAt: context.clock(), query, order: "", value: "" };
      return {
        changes: shown,
        nextPageToken: uid === undefined ? "" : formatPageToken(context.pageTokenKey, { ...token, uid }),
        resumeAfter: places.seal(resumed, organization),
      };
    });
  }

  return implement(ChangesService, { listChanges: list });
}

function readPlace(places: ChangePlaces, field: string, text: string, organization: string): NamedPlace {
  const place = places.parse(text, organization);
  if (!place) throw invalidField(field, "is neither the id of a change nor the resume_after of a list");
  return place;
}

/** Whether all that came after a place is in the log, and the place is one of the organization if it names a change. */
async function isFollowable(session: Session, place: NamedPlace, organization: string): Promise<boolean> {
  if (!(await hasAllAfter(session, place))) return false;
  const found = place.isChange ? await findLogPosition(session, place.sequence) : undefined;
  return !found || rootOf(found.groupUid) === organization;
}

function notKept() {
  return failedPrecondition(
    "CHANGE_NOT_KEPT",
    "what `after` names is not there any more, and what followed it may not be either; begin anew without it",
    "after",
  );
}

/** As many of the changes as fit into a reply, in their order. */
async function showAll(session: Session, wanted: readonly LogPosition[], places: ChangePlaces): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (let i = 0; i < wanted.length; i += portion) {
    const sequences = wanted.slice(i, i + portion).map(({ sequence }) => sequence);
    const found = new Map((await findChanges(session, sequences)).map((change) => [change.sequence, change]));
    shown.push(...sequences.map((sequence) => show(found.get(sequence)!, places)));
    const fitting = countFitting(shown);
    if (fitting < shown.length) return shown.slice(0, fitting);
  }
  return shown;
}

function show(change: Stored, places: ChangePlaces): Shown {
  const { time, actor, actorClaims, method, requestId, kind, uid, groupUid, before, after } = change;
  return {
    id: places.id(change),
    time: toTimestamp(time),
    actorUid: actor,
    actorClaims: { ...actorClaims },
    method: shownMethod(method, groupUid),
    requestId,
    kind,
    resourceUid: uid,
    groupUid,
    ...(before !== null && { before: shownRow(kind, before) }),
    ...(after !== null && { after: shownRow(kind, after) }),
  };
}

/** A callback path ends with the uid of an identity provider, of which other organizations of the person must not learn. */
function shownMethod(method: string, groupUid: string): string {
  const [, path = method, providerUid = ""] = /^(.+?)\/([0-9a-f]{40}(?:\/.*)?)$/.exec(method) ?? [];
  return providerUid === "" || rootOf(providerUid) === rootOf(groupUid) ? method : path;
}

/** Empty for what is not shown. */
function shownRow(kind: string, row: unknown): JsonObject {
  try {
    return rowViews.get(kind)?.show(row) ?? {};
  } catch {
    // A row of an earlier version may lack what is shown today, and must not keep all other changes from being listed.
    return {};
  }
}
