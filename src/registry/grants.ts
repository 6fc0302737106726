// What a caller may do at the registry: its own words, translated into capabilities on the group of the repo.
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { Access, Scope } from "../authz/access.ts";
import { isWithin } from "../model/uid.ts";
import type { Database } from "../storage/database.ts";
import type { Session } from "../storage/engine/session.ts";
import { findPlace, type NameRules } from "./name.ts";
import type { WantedAccess } from "./scope.ts";
import type { Grant } from "./signer.ts";

/** The capabilities that an action needs, all of them. A registry cannot tell a new tag from one that is moved. */
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
 * What of the wanted access the caller is granted. What is refused is left out without an error: the registry then says
 * which action is missing, to whoever asked for it.
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

/** Who asks, and how names are read. */
interface Asked {
  readonly access: Access;
  readonly reach: Reach;
  readonly rules: NameRules;
}

/** Whether the caller may do an action at a group, above it or below it. */
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
  if (type === "repository") return { type, name, actions: await allowedActions(session, wanted, asked) };
  const isCatalog = type === "registry" && name === "catalog";
  return { type, name, actions: isCatalog && mayReadCatalog(asked.access, asked.rules) ? ["*"] : [] };
}

async function allowedActions(session: Session, wanted: WantedAccess, { access, reach, rules }: Asked) {
  const names = wanted.actions.includes("*") ? Object.keys(needs) : wanted.actions;
  const actions = names.filter((action) => Object.hasOwn(needs, action));
  // Security case I7: how long it takes tells nothing of groups and repos where the caller may do none of it.
  const isReached = (uid: string) => actions.some((action) => reach(action, uid));
  const place = await findPlace(session, wanted.name, rules, isReached);
  // A right on a group does not make the groups below it: somebody has to create them first.
  if (!place || place.missing.length > 0) return [];
  const { groupUid, repoUid } = place;
  return actions.filter((action) => {
    const creates = action === "push" && repoUid === undefined ? [Capability.CAP_REPO_CREATE] : [];
    return [...needs[action]!, ...creates].every((capability) => access.has(capability, groupUid));
  });
}

/** The catalog has the names of all repositories: it is for those who may list the repos of everybody in it. */
function mayReadCatalog(access: Access, { registryGroup }: NameRules): boolean {
  if (registryGroup !== "") return access.has(Capability.CAP_REPO_LIST, registryGroup);
  return access.scope([Capability.CAP_INTERNAL]).length > 0;
}
