// Collections and rows for the tests of storage.
import { createHash } from "node:crypto";
import { noTerm } from "../../src/model/grants.ts";
import type { Collection, CollectionTables } from "../../src/storage/collection/collection.ts";
import type { Database } from "../../src/storage/database.ts";
import type { Transaction, WriteContext } from "../../src/storage/engine/session.ts";
import type { Tables } from "../../src/storage/schema/tables.ts";

export type GroupRow = Tables["groups"]["$inferSelect"];
export type IdentityRow = Tables["identities"]["$inferSelect"];
export type RoleRow = Tables["roles"]["$inferSelect"];
export type RepoRow = Tables["repos"]["$inferSelect"];
export type TagRow = Tables["tags"]["$inferSelect"];
export type RoleBindingRow = Tables["roleBindings"]["$inferSelect"];

export const groups: Collection<GroupRow> = {
  kind: "groups",
  rows: (tables) => tables.groups,
  entries: (tables) => tables.groupEntries,
  changesAccess: [],
};

/** A collection with a secret column. */
export const identities: Collection<IdentityRow> = {
  kind: "identities",
  rows: (tables) => tables.identities,
  entries: (tables) => tables.identityEntries,
  changesAccess: ["delete"],
  secret: ["email"],
};

export const roles: Collection<RoleRow> = {
  kind: "roles",
  rows: (tables) => tables.roles,
  entries: (tables) => tables.roleEntries,
  changesAccess: ["update"],
};

/** A collection without name and update time. */
export const roleBindings: Collection<RoleBindingRow> = {
  kind: "role_bindings",
  rows: (tables) => tables.roleBindings,
  entries: (tables) => tables.roleBindingEntries,
  changesAccess: ["insert", "delete"],
};

export const repos: Collection<RepoRow> = {
  kind: "repos",
  rows: (tables) => tables.repos,
  entries: (tables) => tables.repoEntries,
  changesAccess: [],
};

export const tags: Collection<TagRow> = {
  kind: "tags",
  rows: (tables) => tables.tags,
  entries: (tables) => tables.tagEntries,
  changesAccess: [],
};

export const collections: readonly CollectionTables[] = [groups, identities, roles, roleBindings];

export const context: WriteContext = {
  actor: "someone",
  method: "/test/Write",
  requestId: "r-1",
  time: 1_700_000_000,
};

/** Writes as the caller of the tests. */
export function write<T>(database: Database, body: (tx: Transaction) => Promise<T>): Promise<T> {
  return database.write(context, body);
}

/** Returns the uid for a seed, always the same: a descendant of `parent`, or a root. */
export function uidOf(parent: string | null, seed: string | number): string {
  const digest = createHash("sha256").update(String(seed)).digest("hex");
  return parent === null ? digest.slice(0, 40) : `${parent}/${digest.slice(0, 16)}`;
}

export function groupRow(parent: string | null, seed: string | number, more: Partial<GroupRow> = {}): GroupRow {
  return {
    uid: uidOf(parent, seed),
    parent,
    name: `group ${seed}`,
    description: "",
    resourceLimits: {},
    verified: false,
    kind: 0,
    status: 0,
    createTime: context.time,
    updateTime: context.time,
    ...more,
  };
}

export function identityRow(
  parent: string | null,
  seed: string | number,
  more: Partial<IdentityRow> = {},
): IdentityRow {
  return {
    uid: uidOf(parent, seed),
    parent,
    name: `identity ${seed}`,
    description: "",
    email: `${seed}@example.org`,
    emailUnverified: "",
    company: "",
    relationshipType: 1,
    relationship: { case: "claimMatch", value: { issuer: "https://issuer.example", subject: `${seed}` } },
    issuer: "https://issuer.example",
    subject: `${seed}`,
    metadata: {},
    trust: null,
    lastSeenTime: context.time,
    createTime: context.time,
    updateTime: context.time,
    ...more,
  };
}

export function roleRow(parent: string | null, seed: string | number, more: Partial<RoleRow> = {}): RoleRow {
  const times = { createTime: context.time, updateTime: context.time };
  return {
    uid: uidOf(parent, seed),
    parent,
    name: `role ${seed}`,
    description: "",
    capabilities: [101],
    ...times,
    ...more,
  };
}

export function bindingRow(
  parent: string,
  identity: IdentityRow,
  role: RoleRow,
  more: Partial<RoleBindingRow> = {},
): RoleBindingRow {
  const uid = uidOf(parent, `${identity.uid} ${role.uid}`);
  return { uid, parent, identityUid: identity.uid, roleUid: role.uid, createTime: context.time, ...noTerm, ...more };
}

export function repoRow(parent: string, seed: string | number): RepoRow {
  const times = { createTime: context.time, updateTime: context.time };
  const catalog = { catalogTier: 0, bundles: [], aliases: [], activeTags: [] };
  return { uid: uidOf(parent, seed), parent, name: `repo ${seed}`, description: "", ...catalog, ...times };
}

export function tagRow(parent: string, seed: string | number, more: Partial<TagRow> = {}): TagRow {
  const times = { createTime: context.time, updateTime: context.time };
  const kind = { isReferrer: false, isDate: false, isEpoch: false };
  const own = { name: `tag ${seed}`, digest: "", deprecated: false, bundles: [] };
  return { uid: uidOf(parent, seed), parent, ...own, ...kind, ...times, ...more };
}
