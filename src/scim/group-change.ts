// The change of a group by a request. Members are changed as a set of additions and removals: a group may have too many to read them all.
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { parseJsonText, readValue } from "./attributes.ts";
import type { Filter } from "./filter.ts";
import { type Operation, parsePath } from "./patch.ts";
import { isId } from "./resource-json.ts";
import { externalId, groupSchema } from "./schemas.ts";
import { scimError } from "./scim-error.ts";

/** Changes of a group. Absent attributes stay. */
export interface GroupChange {
  displayName?: string | undefined;
  /** Null to remove it. */
  externalId?: string | null;
  readonly members: MemberChange;
}

/** Changes of the members of a group, by the ids of users. */
export interface MemberChange {
  /** Whether all former members are removed first. */
  isReplaced: boolean;
  readonly added: Set<string>;
  readonly removed: Set<string>;
}

/** Reads the body of a POST or PUT: everything that it lacks is removed. */
export function readGroup(body: JsonObject): GroupChange {
  const change: GroupChange = { externalId: null, members: { isReplaced: true, added: new Set(), removed: new Set() } };
  for (const [name, value] of Object.entries(body)) set(change, name.toLowerCase(), value);
  return change;
}

/** Reads the operations of a PATCH. */
export function patchGroup(operations: readonly Operation[]): GroupChange {
  const change: GroupChange = { members: { isReplaced: false, added: new Set(), removed: new Set() } };
  for (const operation of operations) apply(change, operation);
  return change;
}

function apply(change: GroupChange, { op, path, value }: Operation): void {
  const target = parsePath(path);
  if (!target || target.isExtension) return;
  const name = target.name.toLowerCase();
  if (name === "id" || name === "meta" || name === "schemas")
    throw scimError("mutability", `${target.name}: is read-only`);
  if (name !== "members") {
    if (target.filter)
      throw scimError("invalidPath", `${target.name}: has one value, so a filter cannot choose among them`);
    set(change, name, op === "remove" ? null : value);
    return;
  }
  if (target.subAttribute !== undefined) throw scimError("mutability", "members: add and remove whole members");
  applyToMembers(change.members, op, target.filter ? idsOf(target.filter) : undefined, value);
}

function applyToMembers(
  members: MemberChange,
  op: Operation["op"],
  chosen: readonly string[] | undefined,
  value: unknown,
): void {
  if (chosen && op !== "remove") throw scimError("mutability", "members: a filter can only choose members to remove");
  const isAll = op === "replace" || (op === "remove" && !chosen && isEmpty(value));
  if (isAll) {
    members.isReplaced = true;
    members.added.clear();
    members.removed.clear();
  }
  for (const id of (chosen ?? readMembers(value)).filter(isId)) {
    const [into, from] = op === "remove" ? [members.removed, members.added] : [members.added, members.removed];
    into.add(id);
    from.delete(id);
  }
}

/** RFC 7644 §3.5.2.2: without a value, all members are removed. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function set(change: GroupChange, name: string, value: unknown): void {
  if (name === "displayname") change.displayName = textOf("displayName", value);
  if (name === "externalid") change.externalId = textOf("externalId", value) ?? null;
  if (name === "members") for (const id of readMembers(value)) if (isId(id)) change.members.added.add(id);
}

function textOf(name: "displayName" | "externalId", value: unknown): string | undefined {
  const definition = name === "externalId" ? externalId : groupSchema.attributes.find((each) => each.name === name)!;
  const text = readValue(definition, value) as string | undefined;
  if (name === "displayName" && !text?.trim()) throw scimError("invalidValue", "displayName: is required");
  return text;
}

/** Reads members: objects with the id as their `value`. Ids without a user are ignored later, as after a deletion. */
function readMembers(given: unknown): string[] {
  const value = parseJsonText(given);
  if (value === null || value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  return list.map((member, i) => {
    const id = isJsonObject(member) ? member.value : member;
    if (typeof id !== "string") throw scimError("invalidValue", `members[${i}].value: must be the id of a user`);
    return id;
  });
}

/** Returns the ids in a filter such as `value eq "0123456789abcdef"`, or several of them joined by `or`. */
function idsOf(filter: Filter): string[] {
  if (filter.op === "or") return filter.filters.flatMap(idsOf);
  if (filter.op === "eq" && filter.attrPath.toLowerCase() === "value" && typeof filter.compValue === "string")
    return [filter.compValue];
  throw scimError("invalidPath", 'members: a filter must have the form value eq "id"');
}
