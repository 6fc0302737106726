// What a caller may do at the registry: its own words, translated into capabilities on the group of the repo.
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { Access } from "../authz/access.ts";
import type { Database } from "../storage/database.ts";
import type { Session } from "../storage/session.ts";
import { findPlace, type NameRules, type Place } from "./name.ts";
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
  return await database.read(async (session) => {
    const granted: Grant[] = [];
    for (const one of wanted) granted.push(await grant(session, access, one, rules));
    return granted.filter(({ actions }) => actions.length > 0);
  });
}

async function grant(session: Session, access: Access, wanted: WantedAccess, rules: NameRules): Promise<Grant> {
  const { type, name } = wanted;
  if (type === "repository") {
    const place = await findPlace(session, name, rules);
    return { type, name, actions: place ? allowedActions(access, place, wanted.actions) : [] };
  }
  if (type === "registry" && name === "catalog" && mayReadCatalog(access, rules)) return { type, name, actions: ["*"] };
  return { type, name, actions: [] };
}

function allowedActions(access: Access, { groupUid, missing, repoUid }: Place, wanted: readonly string[]): string[] {
  // A right on a group does not make the groups below it: somebody has to create them first.
  if (missing.length > 0) return [];
  const actions = wanted.includes("*") ? Object.keys(needs) : wanted;
  return actions.filter((action) => {
    const needed = Object.hasOwn(needs, action) ? needs[action]! : undefined;
    const creates = action === "push" && repoUid === undefined ? [Capability.CAP_REPO_CREATE] : [];
    return needed !== undefined && [...needed, ...creates].every((capability) => access.has(capability, groupUid));
  });
}

/** The catalog has the names of all repositories: it is for those who may list the repos of everybody in it. */
function mayReadCatalog(access: Access, { registryGroup }: NameRules): boolean {
  if (registryGroup !== "") return access.has(Capability.CAP_REPO_LIST, registryGroup);
  return access.scope([Capability.CAP_INTERNAL]).length > 0;
}
