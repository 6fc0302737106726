import { create } from "@bufbuild/protobuf";
import {
  type CatalogTier,
  RepoSchema,
  ReposService,
} from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { RepoSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { parentOf } from "../../../model/uid.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import { defineKind } from "../../kinds/kind.ts";
import { recordedRepos } from "./events.ts";
import { repoImport, repoReadmeImport } from "./import.ts";
import { repos } from "./repos.ts";
import { canManageCatalog } from "./text-rules.ts";

/** Repos. */
export const repoKind = defineKind({
  name: "repo",
  schema: RepoSchema,
  service: ReposService,
  collection: repoCollection,
  implement: repos,
  transfer: [repoImport, repoReadmeImport],
  recorded: recordedRepos,
  file: {
    references: [],
    toSpec({ uid, name, description, bundles, aliases, activeTags, ...row }, names) {
      const group = names.pathOf(parentOf(uid));
      const catalogTier = row.catalogTier as CatalogTier;
      return create(RepoSpecSchema, { group, name, description, catalogTier, bundles, aliases, activeTags });
    },
    toMessage({ name, description, catalogTier, bundles, aliases, activeTags }) {
      return { name, description, catalogTier, bundles, aliases, activeTags };
    },
    createsAlongside: () => true,
    isDeletedAlongside: true,
    withoutIgnored(wanted, { catalogTier, bundles, aliases, activeTags }, uid, call) {
      return canManageCatalog(call, uid) ? wanted : { ...wanted, catalogTier, bundles, aliases, activeTags };
    },
  },
});
