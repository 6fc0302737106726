import type { MessageInitShape } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { AdvisorySchema } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  AdvisoryChangesService,
  type ChangedSinceRequest,
  type ChangedSinceResponseSchema,
} from "../../../../gen/gatehouse/vulnerabilities/v1/changes_pb.ts";
import { newEncryptedTokens } from "../../../aip/encrypted-token.ts";
import { failedPrecondition, invalidField } from "../../../aip/errors.ts";
import { countFitting, effectivePageSize } from "../../../aip/pagination.ts";
import { fromTimestamp, toTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import { scopeOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { allExpensive } from "../../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { queryDigest } from "../../../resource/bound-page-token.ts";
import { selectSources } from "../../../resource/selection.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { findChanges } from "../../../storage/change-log/history.ts";
import { hasAllAfter } from "../../../storage/change-log/removal.ts";
import { findRows } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import type { AdvisoryEventRow } from "../../../storage/vulnerabilities/advisories.ts";
import { findDeletedAdvisories } from "../../../storage/vulnerabilities/deleted-advisories.ts";
import { type AdvisoryRow, advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { advisoryMessage, readStates } from "../advisories/advisories.ts";
import { type ChangedAdvisory, type Position, positionAt, readChanged } from "./changed-advisories.ts";

type Shown = MessageInitShape<typeof AdvisorySchema>;

/** How many advisories are read with their events at once. */
const portion = 50;

/**
 * The overlap before its last change with which a client restarts, in milliseconds: node clocks differ, and writers commit after their
 * timestamp.
 */
const overlapMs = 10 * 60 * 1000;

/** Serves changed advisories. */
export function advisoryChanges(context: ServiceContext): Implementation {
  const tokens = newEncryptedTokens(() => context.pageTokenKey, "advisory-changes");

  function parseToken(text: string, boundTo: string): Position | undefined {
    if (text === "") return undefined;
    const body = tokens.parse(text, boundTo);
    if (!body) throw invalidField("page_token", "is not a page token of this query and caller");
    return positionOf(body);
  }

  async function changedSince(
    request: ChangedSinceRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ChangedSinceResponseSchema>> {
    const violations = newViolations();
    const pageSize = effectivePageSize(request.pageSize, violations);
    violations.throwIfAny();
    // With a token the time is ignored: a client only has to store the token.
    const { startTime, ...query } = request;
    const boundTo = queryDigest(call, query);
    const { pageToken, uidp } = request;
    const reached = parseToken(pageToken, boundTo);
    const sources = selectSources(scopeOf(call), uidp, { includesGranted: false, includesRoots: false });
    return await context.database.read(async (session) => {
      if (reached && !(await hasAllAfter(session, reached.place))) throw changesNotKept(reached);
      const from = reached ?? (await positionAt(session, startTime ? fromTimestamp(startTime) : 0));
      const page = await readChanged(context.database, session, sources, from, pageSize);
      const advisories = await showAll(session, page.changed);
      // Advisories that do not fit go to the next page.
      const isCut = advisories.length < page.changed.length;
      const next = isCut ? page.changed[advisories.length - 1]!.position : page.position;
      const hasMore = isCut || page.hasMore;
      return { advisories, hasMore, nextPageToken: tokens.format(bodyOf(next), boundTo) };
    });
  }

  return implement(AdvisoryChangesService, allExpensive({ changedSince }));
}

function bodyOf({ place, catchUp }: Position): Buffer {
  const numbers = [place.sequence, place.time];
  return Buffer.from(JSON.stringify(catchUp ? [...numbers, catchUp.time, catchUp.uid] : numbers));
}

function positionOf(body: Buffer): Position {
  const [sequence, time, catchUpTime, uid] = JSON.parse(body.toString());
  const place = { sequence, time };
  return uid === undefined ? { place } : { place, catchUp: { time: catchUpTime, uid } };
}

function changesNotKept({ place }: Position) {
  const startTime = toJson(TimestampSchema, toTimestamp(Math.max(0, place.time - overlapMs)));
  return failedPrecondition(
    "CHANGE_NOT_KEPT",
    `the changes after this page token were deleted by retention; list again without it, with start_time ${startTime}`,
    "page_token",
  );
}

/** Returns as many of the advisories as fit into a response, in order and in their present state. */
async function showAll(session: Session, changed: readonly ChangedAdvisory[]): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (let i = 0; i < changed.length; i += portion) {
    shown.push(...(await showPortion(session, changed.slice(i, i + portion))));
    const fitting = countFitting(shown);
    if (fitting < shown.length) return shown.slice(0, fitting);
  }
  return shown;
}

async function showPortion(session: Session, changed: readonly ChangedAdvisory[]): Promise<Shown[]> {
  const uids = changed.map(({ uid }) => uid);
  const states = await readStates(session, await findRows(session, advisoryCollection, uids));
  const shown = new Map(states.map(({ row, events }) => [row.uid, advisoryMessage(row, events)]));
  const isMissing = ({ uid }: ChangedAdvisory) => !shown.has(uid);
  for (const [uid, advisory] of await readDeleted(session, changed.filter(isMissing))) shown.set(uid, advisory);
  for (const [uid, advisory] of await readGone(session, changed.filter(isMissing))) shown.set(uid, advisory);
  return uids.map((uid) => shown.get(uid) ?? { uid });
}

type ByUid = [uid: string, advisory: Shown][];

/** Reads the last state of deleted advisories. */
async function readDeleted(session: Session, changed: readonly ChangedAdvisory[]): Promise<ByUid> {
  if (changed.length === 0) return [];
  const uids = changed.map(({ uid }) => uid);
  return (await findDeletedAdvisories(session, uids)).map(({ uid, advisory, events, deleteTime }) => [
    uid,
    { ...advisoryMessage(advisory as AdvisoryRow, events as AdvisoryEventRow[]), deleteTime: toTimestamp(deleteTime) },
  ]);
}

/** Reads advisories that were deleted with their group. The change log contains their last row, without events. */
async function readGone(session: Session, changed: readonly ChangedAdvisory[]): Promise<ByUid> {
  const sequences = changed.flatMap(({ sequence }) => (sequence === undefined ? [] : [sequence]));
  if (sequences.length === 0) return [];
  return (await findChanges(session, sequences)).map(({ uid, before, after, time }) => [
    uid,
    { ...advisoryMessage((before ?? after) as AdvisoryRow, []), deleteTime: toTimestamp(time) },
  ]);
}
