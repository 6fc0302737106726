import type { JsonObject } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { parentOf } from "../../model/uid.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import type { Column } from "../output/view.ts";
import { name, uid } from "./columns.ts";
import { named } from "./common-flags.ts";
import { timeOrAgo } from "./flags.ts";
import { textAt } from "./json.ts";
import { repos } from "./repos.ts";
import type { Resource } from "./resource.ts";

export const tags: Resource = {
  path: "images tags",
  noun: "tag",
  type: "Tag",
  service: async () => (await import("../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts")).TagsService,
  verbs: ["list", "describe", "delete"],
  view: {
    noun: "tags",
    columns: [
      name,
      { title: "digest", value: "digest" },
      { title: "updated", value: "updateTime" },
      { ...uid, wide: true },
    ],
  },
  name: {
    member: "name",
    filter: "name",
    request: { includeDates: true, includeEpochs: true, includeReferrers: true },
  },
  holder: { noun: "repos", resource: () => repos, find: findRepos },
  columnsFor: withRepo,
  parent: "none",
  fields: [],
  filters: [
    named,
    {
      flags: "--repo <name|uid>",
      description: "only those of this repo",
      field: "uidp.childrenOf",
      refersTo: () => repos,
      read: async (value, session, { uidp }) =>
        (await import("./lookup.ts")).findUid(session, repos, String(value), isJsonObject(uidp) ? uidp : {}),
    },
    {
      flags: "--updated-within <time>",
      description: "only those changed since then, such as 24h",
      field: "updatedSince",
      read: timeOrAgo,
    },
    { flags: "--show-dates", description: "dated tags too", field: "includeDates" },
    { flags: "--show-epochs", description: "tags with an epoch too", field: "includeEpochs" },
    { flags: "--show-referrers", description: "signatures and attestations too", field: "includeReferrers" },
  ],
  exported: { request: { includeReferrers: true, includeDates: true, includeEpochs: true } },
};

/** Adds a column with the repo of each tag, unless one repo was selected. */
async function withRepo(request: JsonObject, session: Session): Promise<readonly Column[]> {
  const isOne = isJsonObject(request.uidp) && "childrenOf" in request.uidp;
  if (isOne || !["table", "wide", "csv"].includes(session.output.format)) return tags.view.columns;
  const names = repoNames(await findRepos(request, session));
  const value = ({ uid: text }: JsonObject) => names.get(parentOf(String(text))) ?? parentOf(String(text));
  return [{ title: "repo", value }, ...tags.view.columns];
}

/** Returns the repos that listed tags may belong to; none if the caller cannot see them. */
async function findRepos({ uidp }: JsonObject, session: Session): Promise<readonly JsonObject[]> {
  const { listAll } = await import("./lookup.ts");
  const place = isJsonObject(uidp) && uidp.childrenOf !== undefined ? { ids: [uidp.childrenOf] } : uidp;
  return await listAll(session, repos, place === undefined ? {} : { uidp: place }).catch((error) => {
    // A caller who may list tags may not be allowed to list repos.
    if (error instanceof CommandFailure) return [];
    throw error;
  });
}

/** Returns the names of repos by uid, without names that several repos have. */
function repoNames(found: readonly JsonObject[]): Map<string, string> {
  const byName = Map.groupBy(found, (repo) => textAt(repo, "name"));
  const alone = [...byName].filter(([, same]) => same.length === 1);
  return new Map(alone.map(([text, [repo]]) => [textAt(repo!, "uid"), text]));
}
