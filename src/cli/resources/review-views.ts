// How access reviews and their items are shown.
import type { JsonObject } from "@bufbuild/protobuf";
import type { Column, View } from "../output/view.ts";

/** The view of reviews. */
export const reviewView: View = {
  noun: "access reviews",
  nameOf: ({ title }) => String(title ?? ""),
  columns: [
    { title: "title", value: "title" },
    { title: "at", value: ({ groupName, groupUid }) => String(groupName || groupUid) },
    { title: "state", value: ({ state }) => shortOf(state, "ACCESS_REVIEW_STATE_") },
    { title: "due", value: "dueTime" },
    { title: "on due", value: ({ onDue }) => shortOf(onDue, "ACCESS_REVIEW_ON_DUE_") },
    {
      title: "decided",
      value: ({ itemCount, pendingCount }) => `${count(itemCount) - count(pendingCount)}/${count(itemCount)}`,
    },
    { title: "confirmed", value: countOf("confirmedCount"), wide: true },
    { title: "revoked", value: countOf("revokedCount"), wide: true },
    { title: "gone", value: countOf("goneCount"), wide: true },
    { title: "changed", value: countOf("changedCount"), wide: true },
    { title: "kept as last owner", value: countOf("keptLastOwnerCount"), wide: true },
    { title: "uid", value: "uid" },
  ],
};

/** The view of items. */
export const itemView: View = {
  noun: "role bindings",
  id: "roleBindingUid",
  columns: [
    { title: "who", value: ({ identityName, identityUid }) => String(identityName || identityUid) },
    { title: "role", value: ({ roleName, roleUid }) => String(roleName || roleUid) },
    { title: "at", value: ({ groupName, groupUid }) => String(groupName || groupUid) },
    { title: "last used", value: ({ lastUseTime }) => dayOf(lastUseTime) || "never" },
    {
      title: "used",
      value: ({ usedCapabilityCount, capabilityCount }) => `${count(usedCapabilityCount)}/${count(capabilityCount)}`,
    },
    { title: "decision", value: decisionOf },
    { title: "ends", value: "expireTime", wide: true },
    { title: "observed since", value: ({ observedSinceTime }) => dayOf(observedSinceTime), wide: true },
    { title: "reviewer", value: "reviewerUid", wide: true },
    { title: "comment", value: "comment", wide: true },
    { title: "binding", value: "roleBindingUid" },
  ],
};

/** The columns of an export: all fields of items. */
export const exportColumns: readonly Column[] = [
  column("role binding uid", "roleBindingUid"),
  column("identity uid", "identityUid"),
  column("identity name", "identityName"),
  column("group uid", "groupUid"),
  column("group name", "groupName"),
  column("role uid", "roleUid"),
  column("role name", "roleName"),
  column("create time", "createTime"),
  column("start time", "startTime"),
  column("expire time", "expireTime"),
  column("last use time", "lastUseTime"),
  { title: "used capability count", value: countOf("usedCapabilityCount") },
  { title: "capability count", value: countOf("capabilityCount") },
  column("observed since time", "observedSinceTime"),
  { title: "delegation count", value: countOf("delegationCount") },
  { title: "decision", value: decisionOf },
  column("reviewer uid", "reviewerUid"),
  column("comment", "comment"),
  column("decide time", "decideTime"),
];

function column(title: string, value: string): Column {
  return { title, value };
}

/** Returns the function that shows a number: JSON leaves out 0. */
function countOf(member: string) {
  return (row: JsonObject) => String(count(row[member]));
}

function count(value: unknown): number {
  return Number(value ?? 0);
}

function decisionOf({ decision }: JsonObject): string {
  return shortOf(decision, "ACCESS_REVIEW_DECISION_");
}

function shortOf(value: unknown, prefix: string): string {
  return String(value ?? "")
    .replace(prefix, "")
    .toLowerCase()
    .replaceAll("_", " ");
}

/** Returns the day of a time, in UTC; empty for an absent one. */
function dayOf(time: unknown): string {
  return typeof time === "string" ? time.slice(0, 10) : "";
}
