// Says under which names registry clients find repos.
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { NameProblem, RepositoriesService } from "../../../../gen/gatehouse/registry/v1/repositories_pb.ts";
import { notFound } from "../../../aip/errors.ts";
import { rootOf } from "../../../model/uid.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { readTogether, type ServiceContext, type ServiceSettings } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import { findVerifiedRoots } from "../../../storage/iam/group-names.ts";
import { findPlace } from "../../../storage/registry/repository-name.ts";
import { type RepoRow, repoCollection } from "../../../storage/registry/rows.ts";
import { groupsOfName } from "./registry-names.ts";
import { repoType } from "./repos.ts";

/** Serves the names of repos in the registry. */
export function repositories({ database, settings }: ServiceContext): Implementation {
  return implement(RepositoriesService, {
    getRepository: ({ repoUid }, call) =>
      readTogether(database, call, async (session) => {
        const repo = await findRow(session, repoCollection, repoUid);
        if (!repo) throw notFound(repoType, repoUid);
        const answer = { repoUid, host: settings.registryService };
        const groups = groupsOfName(repo, settings.registryGroup);
        // The name has those of the groups in it.
        const access = accessOf(call);
        if (!groups.every((uid) => access.has(Capability.CAP_IAM_GROUPS_LIST, uid)))
          return { ...answer, problem: NameProblem.HIDDEN_GROUP };
        const organization = await organizationName(session, repo, call);
        const name = await nameOf(session, repo, groups, organization, settings);
        return name === undefined ? { ...answer, problem: NameProblem.UNREACHABLE } : { ...answer, name };
      }),
  });
}

/** Returns the name by which the token endpoint finds the repo, or undefined if there is none. */
async function nameOf(
  session: Session,
  repo: RepoRow,
  groups: readonly string[],
  organization: string,
  { registryGroup, maxDepth }: ServiceSettings,
): Promise<string | undefined> {
  const parts = registryGroup === "" ? [organization] : [];
  for (const uid of groups) parts.push((await findRow(session, groupCollection, uid))?.name ?? "");
  const name = [...parts, repo.name].join("/");
  const place = await findPlace(session, name, { registryGroup, maxDepth });
  return place?.repoUid === repo.uid ? name : undefined;
}

/** Returns the name of the organization if the caller may list it, it is verified and no other one has it, and its uid otherwise. */
async function organizationName(session: Session, { parent }: RepoRow, call: Call): Promise<string> {
  const uid = rootOf(parent);
  const root = await findRow(session, groupCollection, uid);
  if (!root?.verified || !accessOf(call).has(Capability.CAP_IAM_GROUPS_LIST, uid)) return uid;
  const place = await findVerifiedRoots(session, root.name);
  return place.length === 1 && /^[a-z0-9.-]+$/.test(root.name) ? root.name : uid;
}
