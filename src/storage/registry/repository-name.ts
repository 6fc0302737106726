// Maps repository names of registries to places in the group tree.

import { depthOf, isUid } from "../../model/uid.ts";
import { findRow } from "../collection/rows.ts";
import type { Session } from "../engine/session.ts";
import { groupCollection } from "../iam/collections.ts";
import { findChildGroups, findVerifiedRoots } from "../iam/group-names.ts";
import { findRepoByName } from "./repos-and-tags.ts";

/** The place of a repository name. */
export interface Place {
  /** The uid of the last existing group on the path. */
  readonly groupUid: string;
  /** The names of the groups below it that do not exist yet, from the top. */
  readonly missing: readonly string[];
  /** The name of the repo in its group. */
  readonly repoName: string;
  /** The uid of the repo; undefined if it does not exist yet. */
  readonly repoUid: string | undefined;
}

/** The rules for names. */
export interface NameRules {
  /** The group that all names are relative to. If empty, the first component is an organization. */
  readonly registryGroup: string;
  /** The maximum depth of groups. */
  readonly maxDepth: number;
}

// OCI distribution-spec 1.1, "Pulling manifests": lower-case components with single separators.
const component = "[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*";
const repositoryName = new RegExp(`^${component}(?:/${component})*$`);

/** The maximum length of a name, as the specification recommends for clients. */
const maxLength = 255;

/** Reports whether a text is a valid repository name. */
export function isRepositoryName(text: string): boolean {
  return text.length <= maxLength && repositoryName.test(text);
}

/**
 * Finds the place of a repository: `<organization>/<group>/…/<repo>`, or `<group>/…/<repo>` below the group of the
 * registry.
 *
 * An organization is identified by its uid, or by its name if that is verified. Returns undefined for a name without a
 * place, and for one that matches several groups, because guessing could pick someone else's. Groups out of reach are
 * not searched.
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
