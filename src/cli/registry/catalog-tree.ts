// Groups and repos below one group by their paths, which are what a registry calls them: names with slashes between.
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ReposService } from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { isUid, parentOf } from "../../model/uid.ts";
import type { Session } from "../client/session.ts";
import { pageSize, readPages } from "./pages.ts";

/** The group that everything is below. */
export interface Top {
  readonly uid: string;
  readonly name: string;
  readonly verified: boolean;
}

/** What lies below it. Who creates something adds it. */
export interface CatalogTree {
  readonly top: Top;
  /** The uids of all groups with this path, since groups may share a name; "" is the path of the top. */
  readonly groupUids: Map<string, string[]>;
  readonly repoUids: Map<string, string>;
}

/** Reads what lies below the group. */
export async function readTree(session: Session, groupUid: string): Promise<CatalogTree> {
  const groups = await session.client(GroupsService);
  const repos = await session.client(ReposService);
  const top = await groups.getGroup({ uid: groupUid });
  const within = { uidp: { descendantsOf: groupUid }, pageSize };
  const paths = new Map([[groupUid, ""]]);
  const groupUids = new Map<string, string[]>([["", [groupUid]]]);
  // By uid, so that a group comes after the one above it.
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
 * The path of a repository below the top; undefined for one of another organization. The name may begin with the top when
 * that is an organization, which goes by its uid, or by its name once that is verified.
 */
export function pathOf({ uid, name, verified }: Top, repository: string): string | undefined {
  const slash = repository.indexOf("/");
  if (slash < 0) return repository;
  const first = repository.slice(0, slash);
  if (first === uid || (verified && first === name)) return repository.slice(slash + 1);
  return isUid(first) ? undefined : repository;
}

/** The path of what something is in, and its own name there. */
export function splitPath(path: string): { readonly above: string; readonly name: string } {
  const slash = path.lastIndexOf("/");
  return { above: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) };
}

function join(above: string | undefined, name: string): string {
  return above ? `${above}/${name}` : name;
}
