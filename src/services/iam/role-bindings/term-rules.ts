// The rules of terms: how far ahead they may begin and end, and which servers must know them.
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { RoleBindingTerm } from "../../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { failedPrecondition, invalidArgument } from "../../../aip/errors.ts";
import { maskNames, type UpdateMask } from "../../../aip/field-mask.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import { dayMs, minuteMs } from "../../../base/clock.ts";
import { version } from "../../../base/version.ts";
import type { Term } from "../../../model/grants.ts";
import { compatibleSinceSetting } from "../../../storage/engine/migrations.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { readSetting, writeSetting } from "../../../storage/engine/settings.ts";
import { listNodes } from "../../../storage/installation/nodes.ts";

/** How far ahead a binding may begin, and how soon and how late it may end, in milliseconds. */
export const termLimits = { maxStartMs: 90 * dayMs, minEndMs: minuteMs, maxEndMs: 5 * 365 * dayMs } as const;

/** The migration with the columns of terms: a program without it grants without an end what has one. */
const termMigration = "0015_role_binding_terms";

/** Returns the term that a request asks for, of the fields of the mask, and of `before` for the others. Throws INVALID_ARGUMENT. */
export function requestedTerm(value: RoleBindingTerm, mask: UpdateMask, before: Term, now: number): Term {
  const violations = newViolations();
  const startTime = maskNames(mask, "start_time") ? timeOf(value.startTime) : before.startTime;
  const changesEnd = maskNames(mask, "expire_time") || maskNames(mask, "ttl");
  const expireTime = changesEnd ? endOf(value, Math.max(startTime ?? now, now)) : before.expireTime;
  if (value.ttl && value.expireTime) violations.add("term.ttl", "must not be set together with expire_time");
  if (startTime !== null && startTime !== before.startTime && startTime > now + termLimits.maxStartMs)
    violations.add("term.start_time", "must be at most 90 days ahead");
  if (expireTime !== null && expireTime !== before.expireTime)
    for (const problem of problemsOfEnd(expireTime, now)) violations.add(fieldOfEnd(value), problem);
  if (expireTime !== null && startTime !== null && startTime >= expireTime)
    violations.add(fieldOfEnd(value), "must be after the start");
  violations.throwIfAny();
  return { startTime, expireTime };
}

function endOf({ ttl, expireTime }: RoleBindingTerm, start: number): number | null {
  return ttl ? start + durationMs(ttl) : timeOf(expireTime);
}

function fieldOfEnd({ ttl }: RoleBindingTerm): string {
  return ttl ? "term.ttl" : "term.expire_time";
}

function problemsOfEnd(end: number, now: number): string[] {
  if (end < now + termLimits.minEndMs) return ["must end at least 1 minute ahead"];
  return end > now + termLimits.maxEndMs ? ["must end at most 5 years ahead"] : [];
}

function timeOf(time: RoleBindingTerm["startTime"]): number | null {
  return time ? fromTimestamp(time) : null;
}

/** Throws INVALID_ARGUMENT for a new binding without a term. */
export function requireTerm({ startTime, expireTime }: Term): void {
  if (startTime === null && expireTime === null)
    throw invalidArgument([{ field: "term.expire_time", description: "is required, unless there is a start" }]);
}

/**
 * Makes sure that no server of an older release runs on the database, now or later: it would grant without an end. Throws SERVERS_TOO_OLD
 * while one runs.
 */
export async function requireServersWithTerms(tx: Transaction): Promise<void> {
  const known = await readSetting(tx, compatibleSinceSetting);
  // The names of migrations begin with their numbers.
  if (known !== undefined && known >= termMigration) return;
  const old = (await listNodes(tx)).filter((node) => isOlder(node.version, version));
  if (old.length > 0) {
    const names = old.map((node) => `${node.hostName} (${node.version})`).join(", ");
    throw failedPrecondition(
      "SERVERS_TOO_OLD",
      `servers of an older release would ignore the term: ${names}; upgrade them first`,
      "",
    );
  }
  await writeSetting(tx, compatibleSinceSetting, termMigration);
}

function isOlder(version: string, than: string): boolean {
  const [own, other] = [version, than].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number));
  const i = own!.findIndex((number, at) => number !== other![at]);
  return i >= 0 && own![i]! < other![i]!;
}

/** Whether a term includes a time that another one does not. */
export function isLonger(before: Term, after: Term): boolean {
  const [infinite, eternal] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  return (
    (after.startTime ?? infinite) < (before.startTime ?? infinite) ||
    (after.expireTime ?? eternal) > (before.expireTime ?? eternal)
  );
}
