// Resources as a file for apply has them, and as they are stored.
import type { ResourceSpec } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import type { ResourceRow } from "../../storage/collection/collection.ts";
import type { GroupRow, RoleRow } from "../../storage/iam/rows.ts";

/** A resource in a file, which names other resources instead of their uids. */
export type AnySpec = Exclude<ResourceSpec["resource"], { case: undefined }>;

/** The name of a kind that a file may have: its member in the oneof of ResourceSpec. */
export type KindName = AnySpec["case"];

/** The message of a kind in a file. */
export type SpecOf<K extends KindName> = Extract<AnySpec, { case: K }>["value"];

/** The uids of what resources of a file refer to. Each throws if the resource is not created yet. */
export interface Uids {
  group(path: string): string;
  role(group: string, reference: string): string;
  identity(path: string): string;
  identityProvider(name: string): string;
}

/** The stored resources of a group and its subgroups. Kinds that are not needed are empty. */
export interface StoredRows {
  /** The group itself; undefined for an organization that does not exist yet. */
  readonly base: GroupRow | undefined;
  readonly byKind: ReadonlyMap<KindName, readonly ResourceRow[]>;
  /** The roles of the ancestors of the group that the caller may list, the nearest first. */
  readonly outerRoles: readonly RoleRow[];
}
