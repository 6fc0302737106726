import { create } from "@bufbuild/protobuf";
import {
  type CatalogTier,
  RepoReadmeSchema,
  RepoSchema,
  ReposService,
} from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { RepoSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { parentOf } from "../../../model/uid.ts";
import { type MethodEvent, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import { defineKind, type Recorded } from "../../kinds/kind.ts";
import { repoImport, repoReadmeImport } from "./import.ts";
import { readmeKind } from "./readmes.ts";
import { repoMessage, repos } from "./repos.ts";
import { canManageCatalog } from "./text-rules.ts";

const { createRepo, updateRepo, deleteRepo, updateRepoReadme } = ReposService.method;

const recorded = { collection: repoCollection, schema: RepoSchema, message: repoMessage };
const readmes = { collection: { kind: readmeKind }, schema: RepoReadmeSchema };

/** Shows a readme. It has the uid of its repo; the change log contains its text only. */
const readmeEvent: MethodEvent = {
  method: updateRepoReadme,
  kind: readmeKind,
  group: parentOf,
  subject: ([uid]) => uid!,
  body: ([{ uid, after }]) => create(RepoReadmeSchema, { uid, ...(after as { readonly content: string }) }),
};

/** The recording of changes of repos and of their readmes. */
const recordedRepos: Recorded = {
  views: [rowView(recorded, repoMessage), rowView(readmes, (row: { readonly content: string }) => row)],
  events: () => [...resourceEvents([createRepo, updateRepo, deleteRepo], recorded), readmeEvent],
};

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
