// The table of the registry's resources that the command line shows.
import { created, name, uid, updated } from "./columns.ts";
import { named } from "./common-flags.ts";
import { reference, timeOrAgo } from "./flags.ts";
import type { Resource } from "./resource.ts";

export const repos: Resource = {
  path: "images repos",
  noun: "repo",
  type: "Repo",
  service: async () => (await import("../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts")).ReposService,
  verbs: ["list", "describe"],
  view: {
    noun: "repos",
    columns: [
      name,
      uid,
      {
        title: "tier",
        value: ({ catalogTier }) =>
          String(catalogTier ?? "")
            .replace("CATALOG_TIER_", "")
            .toLowerCase(),
      },
      { title: "active tags", value: "activeTags", wide: true },
      { title: "aliases", value: "aliases", wide: true },
      { title: "description", value: "description", wide: true },
      created,
      updated,
    ],
  },
  parent: "group",
  fields: [],
  filters: [named],
};

export const tags: Resource = {
  path: "images tags",
  noun: "tag",
  type: "Tag",
  service: async () => (await import("../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts")).TagsService,
  verbs: ["list", "describe"],
  view: {
    noun: "tags",
    columns: [
      name,
      { title: "digest", value: "digest" },
      { title: "updated", value: "updateTime" },
      { ...uid, wide: true },
    ],
  },
  parent: "none",
  fields: [],
  filters: [
    named,
    {
      flags: "--repo <name|uid>",
      description: "only those of this repo",
      field: "uidp.childrenOf",
      read: reference(() => repos),
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
};
