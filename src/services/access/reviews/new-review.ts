// Creates access reviews. Their items are role bindings as they are at one time, with the evidence of their use.
import type { AccessReview } from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { AccessReviewHolders, AccessReviewOnDue } from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { failedPrecondition, notFound } from "../../../aip/errors.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { dayMs } from "../../../base/clock.ts";
import { nextSlice } from "../../../base/slices.ts";
import { newChild, rangeBelow, rootOf } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { findRows, insertRow, keepRow, lockRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { accessRecording } from "../../../storage/iam/access-usage.ts";
import { groupCollection, identityCollection } from "../../../storage/iam/collections.ts";
import { accessReviewCollection } from "../../../storage/iam/reviews/collections.ts";
import { insertItems } from "../../../storage/iam/reviews/items.ts";
import { countItemsBelow } from "../../../storage/iam/reviews/queries.ts";
import type { AccessReviewItemRow, AccessReviewRow } from "../../../storage/iam/reviews/rows.ts";
import { reviewScan } from "../../../storage/iam/reviews/selection.ts";
import {
  findObservedBindings,
  findUsedCapabilities,
  type ObservedBinding,
  observedSince,
} from "../../../storage/iam/unused-bindings.ts";
import { scanRows } from "../../../storage/list/scan.ts";
import { groupParents } from "../../iam/groups/groups.ts";
import { requireBindable } from "../../iam/role-bindings/role-binding-rules.ts";
import { requireLastingCall } from "../../iam/rules/escalation.ts";
import { knownAmong } from "../../iam/users/membership.ts";
import { requireFewBindings } from "../few-bindings.ts";
import { reviewLimits } from "./review-checks.ts";

/** How many role bindings are read, and how many items are stored, at once. */
const pageSize = { read: 500, written: 200 } as const;

/** An item without its review. */
type Found = Omit<AccessReviewItemRow, "reviewUid">;

/** Creates a review with its items, and returns it as `show` does in the same transaction. */
export async function createReview<T>(
  { database, clock }: Pick<ServiceContext, "database" | "clock">,
  { parent, value }: { readonly parent: string; readonly value: AccessReview },
  call: Call,
  show: (tx: Transaction, row: AccessReviewRow) => Promise<T>,
): Promise<T> {
  const { items, recorded } = await database.read((session) => readItems(session, parent, value));
  return await database.write({ ...writeContext(call, clock), isLarge: true }, async (tx) => {
    const row = newRow(tx, parent, value, { items: items.length, recorded, creatorUid: callerOf(call).uid });
    // A review that ends role bindings later needs a caller who may do so then.
    if (row.onDue === "END_UNCONFIRMED") requireLastingCall(call, parent, row.dueTime);
    for (const uid of row.reviewerIdentityUids) await requireBindable(tx, uid, parent, call);
    await requireRoom(tx, parent, items.length);
    await insertRow(tx, accessReviewCollection, row);
    for (let i = 0; i < items.length; i += pageSize.written) {
      await nextSlice();
      const batch = items.slice(i, i + pageSize.written);
      await insertItems(
        tx,
        batch.map((item) => ({ ...item, reviewUid: row.uid })),
      );
    }
    return await show(tx, row);
  });
}

function newRow(
  tx: Transaction,
  parent: string,
  value: AccessReview,
  { items, recorded, creatorUid }: { items: number; recorded: number | undefined; creatorUid: string },
): AccessReviewRow {
  const dueTime = fromTimestamp(value.dueTime!);
  return {
    uid: newChild(parent),
    parent,
    name: value.title,
    dueTime,
    onDue: value.onDue === AccessReviewOnDue.END_UNCONFIRMED ? "END_UNCONFIRMED" : "REPORT_ONLY",
    reviewerIdentityUids: [...new Set(value.reviewerIdentityUids)],
    ...filtersOf(value),
    unusedDays: value.unusedDays,
    creatorUid,
    createTime: tx.context.time,
    endTime: dueTime,
    closeTime: null,
    recordedTime: recorded ?? null,
    keptUnconfirmed: false,
    itemCount: items,
    pendingCount: items,
    confirmedCount: 0,
    revokedCount: 0,
    goneCount: 0,
    changedCount: 0,
    keptLastOwnerCount: 0,
  };
}

function filtersOf({ roleUids, holders }: AccessReview): Pick<AccessReviewRow, "roleUids" | "holders"> {
  const names = { [AccessReviewHolders.PEOPLE]: "PEOPLE", [AccessReviewHolders.WORKLOADS]: "WORKLOADS" } as const;
  return { roleUids: [...new Set(roleUids)], holders: names[holders as keyof typeof names] ?? "" };
}

/** Throws if the group does not exist, or the organization has too many items. Concurrent creations wait for each other. */
async function requireRoom(tx: Transaction, parent: string, added: number): Promise<void> {
  const root = rootOf(parent);
  const exists = (await lockRow(tx, groupCollection, root)) && (await keepRow(tx, groupCollection, parent));
  if (!exists) throw notFound(groupParents.type, parent);
  const { maxItemsOfOrganization: limit } = reviewLimits;
  if ((await countItemsBelow(tx, root)) + added > limit)
    throw failedPrecondition(
      "TOO_MANY_REVIEW_ITEMS",
      `the reviews of an organization may have at most ${limit} items together; closed ones are deleted after 400 days`,
      root,
    );
}

/** Reads the role bindings to review, with what is known of their use. */
async function readItems(session: Session, parent: string, value: AccessReview) {
  await requireFewBindings(session, parent);
  const recorded = await accessRecording.since(session);
  const now = session.termTime();
  const since = value.unusedDays === 0 ? undefined : now - value.unusedDays * dayMs;
  const scan = reviewScan({ ...filtersOf(value), unusedSince: since, now });
  // All at once: each further page could look through the whole group again.
  const page = { after: "", skip: 0, limit: reviewLimits.maxItems + 1 };
  const uids = await scanRows(session, scan, [rangeBelow(parent)], page);
  if (uids.length > reviewLimits.maxItems) throw tooMany(parent);
  const items: Found[] = [];
  for (let i = 0; i < uids.length; i += pageSize.read) {
    await nextSlice();
    items.push(...(await readPage(session, uids.slice(i, i + pageSize.read), recorded)));
  }
  return { items, recorded };
}

function tooMany(parent: string) {
  const rule = `a review has at most ${reviewLimits.maxItems} role bindings; name a smaller group, or fewer roles`;
  return failedPrecondition("TOO_MANY_ROLE_BINDINGS", rule, parent);
}

async function readPage(session: Session, uids: readonly string[], recorded: number | undefined): Promise<Found[]> {
  const bindings = await findObservedBindings(session, uids);
  const used = Map.groupBy(await findUsedCapabilities(session, uids), ({ uid }) => uid);
  const nameOf = await identityNamer(session, bindings);
  return bindings.map((binding) => {
    const uses = used.get(binding.uid) ?? [];
    const {
      uid: roleBindingUid,
      identityUid,
      roleUid,
      groupName,
      roleName,
      createTime,
      startTime,
      expireTime,
    } = binding;
    return {
      roleBindingUid,
      identityUid,
      roleUid,
      identityName: nameOf(binding),
      groupName,
      roleName,
      createTime,
      startTime,
      expireTime,
      lastUseTime: uses.length > 0 ? Math.max(...uses.map(({ time }) => time)) : null,
      usedCapabilityCount: uses.length,
      capabilityCount: binding.capabilities.length,
      observedTime: observedSince(binding, recorded) ?? null,
      delegationCount: binding.delegations,
      ...undecided,
    };
  });
}

const undecided = { decision: "PENDING", reviewerUid: "", comment: "", decideTime: null } as const;

/** Returns the function that names the holder of a role binding. People who have not joined the organization have no name there. */
async function identityNamer(session: Session, bindings: readonly ObservedBinding[]) {
  const uids = [...new Set(bindings.map(({ identityUid }) => identityUid))];
  const rows = new Map((await findRows(session, identityCollection, uids)).map((row) => [row.uid, row]));
  const isKnownTo = await knownAmong(session, uids);
  return ({ identityUid, groupUid }: ObservedBinding): string => {
    const { name = "", email = "" } = rows.get(identityUid) ?? {};
    return isKnownTo(identityUid, groupUid) ? name || email : "";
  };
}
