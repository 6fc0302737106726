// Translates the actions of a registry into capabilities on the group of the repo.
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { Access, Scope } from "../authz/access.ts";
import { isWithin } from "../model/uid.ts";
import type { Database } from "../storage/database.ts";
import type { Session } from "../storage/engine/session.ts";
import { findPlace, type NameRules } from "../storage/registry/repository-name.ts";
import type { WantedAccess } from "./scope.ts";
import type { Grant } from "./signer.ts";

/** The capabilities that an action requires, all of them. A registry cannot distinguish a new tag from a moved one. */
const needs: Readonly<Record<string, readonly number[]>> = {
  pull: [Capability.CAP_REPO_BLOBS_GET, Capability.CAP_MANIFEST_LIST],
  push: [
    Capability.CAP_MANIFEST_CREATE,
    Capability.CAP_MANIFEST_UPDATE,
    Capability.CAP_TAG_CREATE,
    Capability.CAP_TAG_UPDATE,
  ],
  delete: [Capability.CAP_MANIFEST_DELETE, Capability.CAP_TAG_DELETE],
};

/**
 * Returns the part of the requested access that the caller is granted. Denied access is left out without an error: the
 * registry then tells the client which action is missing.
 */
export async function grantAccess(
  database: Database,
  access: Access,
  wanted: readonly WantedAccess[],
  rules: NameRules,
): Promise<Grant[]> {
  const asked: Asked = { access, reach: newReach(access), rules };
  return await database.read(async (session) => {
    const granted: Grant[] = [];
    for (const one of wanted) granted.push(await grant(session, one, asked));
    return granted.filter(({ actions }) => actions.length > 0);
  });
}

/** The caller, and the rules for names. */
interface Asked {
  readonly access: Access;
  readonly reach: Reach;
  readonly rules: NameRules;
}

/** Reports whether the caller may perform an action at a group, on an ancestor or on a descendant. */
type Reach = (action: string, groupUid: string) => boolean;

function newReach(access: Access): Reach {
  const known = new Map<string, Scope>();
  return (action, uid) => {
    const subtrees = known.get(action) ?? access.scope(needs[action]!);
    known.set(action, subtrees);
    return subtrees.some((subtree) => isWithin(uid, subtree) || isWithin(subtree, uid));
  };
}

async function grant(session: Session, wanted: WantedAccess, asked: Asked): Promise<Grant> {
  const { type, name } = wanted;
  if (type === "repository" && name === "")
    return { type, name, actions: mayPullAll(asked.access, asked.rules) ? wanted.actions : [] };
  if (type === "repository") return { type, name, actions: await allowedActions(session, wanted, asked) };
  const isCatalog = type === "registry" && name === "catalog";
  return { type, name, actions: isCatalog && mayReadCatalog(asked.access, asked.rules) ? ["*"] : [] };
}

async function allowedActions(session: Session, wanted: WantedAccess, { access, reach, rules }: Asked) {
  const names = wanted.actions.includes("*") ? Object.keys(needs) : wanted.actions;
  const actions = names.filter((action) => Object.hasOwn(needs, action));
  // Security case I7: the response time must not reveal groups and repos without access.
  const isReached = (uid: string) => actions.some((action) => reach(action, uid));
  const place = await findPlace(session, wanted.name, rules, isReached);
  // Access to a group does not create subgroups: they must exist already.
  if (!place || place.missing.length > 0) return [];
  const { groupUid, repoUid } = place;
  return actions.filter((action) => {
    const creates = action === "push" && repoUid === undefined ? [Capability.CAP_REPO_CREATE] : [];
    return access.use([...needs[action]!, ...creates], groupUid);
  });
}

/** The catalog lists all repositories, so it requires the capability to list the repos of all groups in it. */
function mayReadCatalog(access: Access, rules: NameRules): boolean {
  return hasEverywhere(access, [Capability.CAP_REPO_LIST], rules);
}

/** zot shows more than names to who may pull "all" repositories, by its searches. */
function mayPullAll(access: Access, rules: NameRules): boolean {
  return hasEverywhere(access, [Capability.CAP_REPO_LIST, ...needs.pull!], rules);
}

/** Without a group of the registry, its repositories belong to several organizations. */
function hasEverywhere(access: Access, capabilities: readonly number[], { registryGroup }: NameRules): boolean {
  if (registryGroup !== "") return access.use(capabilities, registryGroup);
  return access.scope([Capability.CAP_INTERNAL]).some((group) => access.use([Capability.CAP_INTERNAL], group));
}
