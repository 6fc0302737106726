import { created, name, uid, updated } from "./columns.ts";
import { named } from "./common-flags.ts";
import type { Resource } from "./resource.ts";

export const repos: Resource = {
  path: "images repos",
  noun: "repo",
  type: "Repo",
  service: async () => (await import("../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts")).ReposService,
  verbs: ["list", "describe", "delete"],
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
        member: "catalogTier",
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
