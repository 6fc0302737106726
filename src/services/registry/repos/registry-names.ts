// The names under which a registry may have the content of a repo.
import { ancestorsOf, isWithin, rootOf } from "../../../model/uid.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import { findPlace, isRepositoryName, type NameRules } from "../../../storage/registry/repository-name.ts";
import { type RepoRow, repoCollection } from "../../../storage/registry/rows.ts";

/** Returns the groups whose names are in that of a repo, from the top, without an organization: it goes by its uid as well. */
export function groupsOfName({ parent }: Pick<RepoRow, "parent">, registryGroup: string): string[] {
  const groups = [...ancestorsOf(parent), parent];
  return registryGroup === ""
    ? groups.slice(1)
    : groups.filter((uid) => uid !== registryGroup && isWithin(uid, registryGroup));
}

/** Returns the names that lead to a repo: with the name of its organization, if it is verified, and with its uid. None if it is gone. */
export async function registryNamesOf(session: Session, repoUid: string, rules: NameRules): Promise<string[]> {
  const repo = await findRow(session, repoCollection, repoUid);
  if (!repo) return [];
  const groups: string[] = [];
  for (const uid of groupsOfName(repo, rules.registryGroup))
    groups.push((await findRow(session, groupCollection, uid))?.name ?? "");
  const root = await findRow(session, groupCollection, rootOf(repoUid));
  const tops = rules.registryGroup === "" ? [...(root?.verified ? [[root.name]] : []), [rootOf(repoUid)]] : [[]];
  const names = tops.map((top) => [...top, ...groups, repo.name].join("/")).filter(isRepositoryName);
  const found: string[] = [];
  for (const name of names) if ((await findPlace(session, name, rules))?.repoUid === repoUid) found.push(name);
  return found;
}
