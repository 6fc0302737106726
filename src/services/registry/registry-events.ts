import { create } from "@bufbuild/protobuf";
import {
  RepoReadmeSchema,
  RepoSchema,
  ReposService,
} from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { TagSchema, TagsService } from "../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { type MethodEvent, resourceEvents } from "../../resource/method-event.ts";
import { parentOf, rootOf } from "../../uid.ts";
import { readmeKind } from "./readmes.ts";
import { repoMessage } from "./repos.ts";
import { repoCollection, tagCollection } from "./rows.ts";
import { tagMessage } from "./tags.ts";

const repos = ReposService.method;
const tags = TagsService.method;

/** A readme has the uid of its repo; the log has its text alone. */
const readmeEvent: MethodEvent = {
  method: repos.updateRepoReadme,
  kind: readmeKind,
  group: parentOf,
  subject: ([uid]) => uid!,
  body: ([{ uid, after }]) => create(RepoReadmeSchema, { uid, ...(after as { readonly content: string }) }),
};

/** The events of repos and tags. */
export const registryEvents: readonly MethodEvent[] = [
  ...resourceEvents([repos.createRepo, repos.updateRepo, repos.deleteRepo], {
    collection: repoCollection,
    schema: RepoSchema,
    message: repoMessage,
  }),
  readmeEvent,
  ...resourceEvents([tags.createTag, tags.deleteTag], {
    collection: tagCollection,
    schema: TagSchema,
    message: tagMessage,
    // Tags are told of at the organization alone.
    group: rootOf,
  }),
];
