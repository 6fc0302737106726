import { create } from "@bufbuild/protobuf";
import {
  RepoReadmeSchema,
  RepoSchema,
  ReposService,
} from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { TagSchema, TagsService } from "../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { parentOf, rootOf } from "../../model/uid.ts";
import { type MethodEvent, resourceEvents } from "../../resource/method-event.ts";
import { rowView } from "../../resource/row-view.ts";
import { repoCollection, tagCollection } from "../../storage/registry/rows.ts";
import { readmeKind } from "./repos/readmes.ts";
import { repoMessage } from "./repos/repos.ts";
import { tagMessage } from "./tags/tags.ts";

const { createRepo, updateRepo, deleteRepo, updateRepoReadme } = ReposService.method;
const { createTag, deleteTag } = TagsService.method;

const repos = { collection: repoCollection, schema: RepoSchema, message: repoMessage };
const tags = { collection: tagCollection, schema: TagSchema, message: tagMessage };
const readmes = { collection: { kind: readmeKind }, schema: RepoReadmeSchema };

/** Shows repos, readmes and tags in the audit log. */
export const registryViews = [
  rowView(repos, repoMessage),
  rowView(readmes, (row: { readonly content: string }) => row),
  rowView(tags, tagMessage),
];

/** Shows a readme. It has the uid of its repo; the change log contains its text only. */
const readmeEvent: MethodEvent = {
  method: updateRepoReadme,
  kind: readmeKind,
  group: parentOf,
  subject: ([uid]) => uid!,
  body: ([{ uid, after }]) => create(RepoReadmeSchema, { uid, ...(after as { readonly content: string }) }),
};

/** The events of repos and tags. */
export const registryEvents: readonly MethodEvent[] = [
  ...resourceEvents([createRepo, updateRepo, deleteRepo], repos),
  readmeEvent,
  // Events of tags belong to the organization.
  ...resourceEvents([createTag, deleteTag], { ...tags, group: rootOf }),
];
