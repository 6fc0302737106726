import { create } from "@bufbuild/protobuf";
import {
  RepoReadmeSchema,
  RepoSchema,
  ReposService,
} from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { parentOf } from "../../../model/uid.ts";
import { type MethodEvent, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import type { Recorded } from "../../kinds/kind.ts";
import { readmeKind } from "./readmes.ts";
import { repoMessage } from "./repos.ts";

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

/** How changes of repos and of their readmes are shown. */
export const recordedRepos: Recorded = {
  views: [rowView(recorded, repoMessage), rowView(readmes, (row: { readonly content: string }) => row)],
  events: () => [...resourceEvents([createRepo, updateRepo, deleteRepo], recorded), readmeEvent],
};
