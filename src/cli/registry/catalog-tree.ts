// Groups and repos below one group by their paths, which are their names in a registry.
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ReposService } from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { isUid, parentOf } from "../../model/uid.ts";
import { pageSize, readPages } from "../client/pages.ts";
import type { Session } from "../client/session.ts";

/** The group at the top of the tree. */
export interface Top {
  readonly uid: string;
  readonly name: string;
  readonly verified: boolean;
}

/** The tree below the top. Code that creates something adds it here. */
export interface CatalogTree {
  readonly top: Top;
  /** The uids of all groups with a path, since groups may share a name. The path of the top is "". */
  readonly groupUids: Map<string, string[]>;
  readonly repoUids: Map<string, string>;
}

/** Reads the tree below the group. */
export async function readTree(session: Session, groupUid: string): Promise<CatalogTree> {
  const groups = await session.client(GroupsService);
  const repos = await session.client(ReposService);
  const top = await groups.getGroup({ uid: groupUid });
  const within = { uidp: { descendantsOf: groupUid }, pageSize };
  const paths = new Map([[groupUid, ""]]);
  const groupUids = new Map<string, string[]>([["", [groupUid]]]);
  // In the order of uids, so a group comes after its parent.
  const readGroups = (pageToken: string) => groups.listGroups({ ...within, orderBy: "uid", pageToken });
  for (const { uid, name } of await readPages(readGroups, (reply) => reply.groups)) {
    const path = join(paths.get(parentOf(uid)), name);
    paths.set(uid, path);
    groupUids.set(path, [...(groupUids.get(path) ?? []), uid]);
  }
  const repoUids = new Map<string, string>();
  const readRepos = (pageToken: string) => repos.listRepos({ ...within, pageToken });
  for (const { uid, name } of await readPages(readRepos, (reply) => reply.repos))
    repoUids.set(join(paths.get(parentOf(uid)), name), uid);
  return { top, groupUids, repoUids };
}

/**
 * Returns the path of a repository below the top; undefined if it belongs to another organization. The name may start
 * with the top if that is an organization, by its uid, or by its name if verified.
 */
export function pathOf({ uid, name, verified }: Top, repository: string): string | undefined {
  const slash = repository.indexOf("/");
  if (slash < 0) return repository;
  const first = repository.slice(0, slash);
  if (first === uid || (verified && first === name)) return repository.slice(slash + 1);
  return isUid(first) ? undefined : repository;
}

/** Splits a path into the parent path and the name. */
export function splitPath(path: string): { readonly above: string; readonly name: string } {
  const slash = path.lastIndexOf("/");
  return { above: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) };
}

function join(above: string | undefined, name: string): string {
  return above ? `${above}/${name}` : name;
}
