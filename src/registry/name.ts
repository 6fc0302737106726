// Names of repositories as registries have them, and the places of the tree that they stand for.

import { depthOf, isUid } from "../model/uid.ts";
import { findRow } from "../storage/collection/rows.ts";
import type { Session } from "../storage/engine/session.ts";
import { groupCollection } from "../storage/iam/collections.ts";
import { findChildGroups, findVerifiedRoots } from "../storage/iam/group-names.ts";
import { findRepoByName } from "../storage/registry/repos-and-tags.ts";

/** What a name stands for. */
export interface Place {
  /** The uid of the last group on the way that exists. */
  readonly groupUid: string;
  /** The names of the groups below it that do not exist yet, the uppermost first. */
  readonly missing: readonly string[];
  /** What the repo is called in its group. */
  readonly repoName: string;
  /** The uid of the repo; undefined when there is none yet. */
  readonly repoUid: string | undefined;
}

/** How names are read. */
export interface NameRules {
  /** The group that all names are paths below; when empty, the first part of a name is an organization. */
  readonly registryGroup: string;
  /** How many levels of groups there may be. */
  readonly maxDepth: number;
}

// OCI distribution-spec 1.1, "Pulling manifests": components in lower case, with single separators between them.
const component = "[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*";
const repositoryName = new RegExp(`^${component}(?:/${component})*$`);

/** How long a name may be: what the specification asks clients to stay below. */
const maxLength = 255;

/** Whether a text is the name of a repository. */
export function isRepositoryName(text: string): boolean {
  return text.length <= maxLength && repositoryName.test(text);
}

/**
 * Finds the place of a repository: `<organization>/<group>/…/<repo>`, or `<group>/…/<repo>` below the group of the registry.
 *
 * An organization goes by its uid, or by its name once that is verified. Undefined for a name that stands for nothing, or
 * that fits several groups: a guess could be somebody else's. Nothing is looked for in groups that are not in reach, nor
 * further on the way through them; undefined for what lies there.
 */
export async function findPlace(
  session: Session,
  name: string,
  rules: NameRules,
  isReached: (groupUid: string) => boolean = () => true,
): Promise<Place | undefined> {
  if (!isRepositoryName(name)) return undefined;
  const parts = name.split("/");
  const base = await findBase(session, parts, rules.registryGroup);
  const repoName = base?.groups.pop();
  if (!base || repoName === undefined) return undefined;
  let { groupUid } = base;
  const missing = [...base.groups];
  if (!isReached(groupUid)) return undefined;
  while (missing.length > 0) {
    const [child, second] = await findChildGroups(session, groupUid, missing[0]!, 2);
    if (second) return undefined;
    if (!child) break;
    groupUid = child.uid;
    missing.shift();
    if (!isReached(groupUid)) return undefined;
  }
  // The repo is one level below its group.
  if (depthOf(groupUid) + missing.length >= rules.maxDepth) return undefined;
  const repo = missing.length === 0 ? await findRepoByName(session, groupUid, repoName) : undefined;
  return { groupUid, missing, repoName, repoUid: repo?.uid };
}

async function findBase(session: Session, parts: string[], registryGroup: string) {
  if (registryGroup !== "")
    return (await findRow(session, groupCollection, registryGroup))
      ? { groupUid: registryGroup, groups: parts }
      : undefined;
  const [organization = "", ...groups] = parts;
  if (isUid(organization))
    return (await findRow(session, groupCollection, organization)) ? { groupUid: organization, groups } : undefined;
  const [root] = await findVerifiedRoots(session, organization);
  return root && { groupUid: root.uid, groups };
}
