// The types and ids of subjects and resources, and the identities, groups and other resources that they name.
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ApiError, Code } from "../aip/errors.ts";
import { isUid, rootOf } from "../model/uid.ts";
import type { Collection, ResourceRow } from "../storage/collection/collection.ts";
import { groupCollection, identityCollection, roleCollection } from "../storage/iam/collections.ts";
import { repoCollection } from "../storage/registry/rows.ts";
import type { Asker } from "./asker.ts";
import type { Entity } from "./request.ts";

const collections = {
  group: groupCollection,
  repo: repoCollection,
  identity: identityCollection,
  role: roleCollection,
};

/** A type of resources. */
export type ResourceType = keyof typeof collections;

/** Returns whether a text is a type of resources. */
export function isResourceType(type: string): type is ResourceType {
  return Object.hasOwn(collections, type);
}

/** Returns whether a text is a type of subjects. */
export function isSubjectType(type: string): boolean {
  return type === "identity" || type === "user";
}

/** Returns whether an identity is a subject of a type: a user is a person, an identity a person or a workload. */
export function isSubject(type: string, uid: string): boolean {
  return type === "identity" || (type === "user" && !uid.includes("/"));
}

/** Returns the uid of a resource, of which nothing else need exist; undefined for an id that stands for none. */
export async function findUid(asker: Asker, { type, id }: Entity): Promise<string | undefined> {
  if (isUid(id)) return id;
  return type === "group" ? await findGroup(asker, id) : undefined;
}

/** Returns those of some uids that belong to a resource of the type. */
export async function existing(
  { database }: Asker,
  type: ResourceType,
  uids: readonly string[],
): Promise<ReadonlySet<string>> {
  const collection = collections[type] as unknown as Collection<ResourceRow>;
  const rows = await database.rows.findAll(collection, [...new Set(uids)]);
  return new Set(rows.map(({ uid }) => uid));
}

/** The longest path of a group. */
const maxPathLength = 4_096;

/** Returns the uid of the group with a path of names that begins with an organization, among those that the client may list. */
async function findGroup(asker: Asker, path: string): Promise<string | undefined> {
  if (path.length > maxPathLength) return undefined;
  const [organization = "", ...names] = path.split("/");
  let uid = await findOrganization(asker, organization);
  for (const name of names) {
    if (uid === undefined) return undefined;
    const [only, second] = await listGroups(asker, name, { childrenOf: uid });
    uid = second === undefined ? only : undefined;
  }
  return uid;
}

/** Returns the organization with a name. Names are not unique: that of the client comes first, and two others are ambiguous. */
async function findOrganization(asker: Asker, name: string): Promise<string | undefined> {
  const found = await listGroups(asker, name, { inRoot: true });
  const own = rootOf(asker.uid);
  if (found.includes(own)) return own;
  return found.length === 1 ? found[0] : undefined;
}

async function listGroups(
  asker: Asker,
  name: string,
  uidp: { readonly childrenOf: string } | { readonly inRoot: true },
): Promise<readonly string[]> {
  // An empty name would filter nothing.
  if (name === "") return [];
  try {
    const { groups } = await asker.invoke(GroupsService.method.listGroups, { name, uidp, pageSize: 200 });
    return groups.map(({ uid }) => uid);
  } catch (error) {
    const { code } = error instanceof ApiError ? error : { code: undefined };
    // A text that is the name of no group, or a client that may list none.
    if (code === Code.INVALID_ARGUMENT || code === Code.PERMISSION_DENIED) return [];
    throw error;
  }
}
