import { TagSchema, TagsService } from "../../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { rootOf } from "../../../model/uid.ts";
import { resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { tagCollection } from "../../../storage/registry/rows.ts";
import { absent, defineOtherKind } from "../../kinds/kind.ts";
import { tagImport } from "./import.ts";
import { tagMessage, tags } from "./tags.ts";

const { createTag, deleteTag } = TagsService.method;

const recorded = { collection: tagCollection, schema: TagSchema, message: tagMessage };

/** Tags of repos. */
export const tagKind = defineOtherKind({
  name: "tag",
  schema: TagSchema,
  service: TagsService,
  collection: tagCollection,
  implement: tags,
  file: absent("Pushes to the registry make tags."),
  transfer: [tagImport],
  recorded: {
    views: [rowView(recorded, tagMessage)],
    // Events of tags belong to the organization.
    events: () => resourceEvents([createTag, deleteTag], { ...recorded, group: rootOf }),
  },
});
