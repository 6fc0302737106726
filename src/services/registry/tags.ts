import {
  ListTagsRequestSchema,
  TagSchema,
  TagsService,
} from "../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { notFound } from "../../aip/errors.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import type { MessageRules } from "../../pipeline/rule-book.ts";
import { type Deps, writeContext } from "../../resource/deps.ts";
import { commonOrders, defineResource } from "../../resource/resource.ts";
import { type ParentCollection, standardMethods } from "../../resource/standard-methods.ts";
import { lockRow } from "../../storage/collection.ts";
import { findTag, tagCondition } from "../../storage/registry.ts";
import { fromTimestamp, toTimestamp } from "../timestamps.ts";
import { bundleRule, digestRule, keepsCatalog, tagRule } from "./catalog-rules.ts";
import { repoType } from "./repos.ts";
import { repoCollection, type TagRow, tagCollection } from "./rows.ts";
import { kindsOf, writeTag } from "./write-tag.ts";

const tag = defineResource<typeof TagSchema, TagRow>({
  schema: TagSchema,
  plural: "tags",
  collection: tagCollection,
  orderable: commonOrders,
  rules: { name: tagRule, digest: digestRule, bundles: bundleRule },
  toMessage: ({ uid, name, digest, deprecated, bundles, updateTime }) => ({
    uid,
    name,
    digest,
    deprecated,
    bundles,
    updateTime: toTimestamp(updateTime),
  }),
  toRow: ({ name, digest, deprecated, bundles }) => ({ name, digest, deprecated, bundles, ...kindsOf(name) }),
});

/** The filters that are more than any text. */
const listRules: MessageRules = { schema: ListTagsRequestSchema, fields: { digest: digestRule } };

const repoParents: ParentCollection = {
  type: repoType,
  lock: (tx, uid) => lockRow(tx, repoCollection, uid),
};

/** Serves tags. */
export function tags(deps: Deps): Implementation {
  const standard = standardMethods(tag, repoParents, deps);
  return implement(
    TagsService,
    {
      getTag: standard.get,
      listTags(request, call) {
        const { name, digest, updatedSince, includeReferrers, includeDates, includeEpochs } = request;
        const since = updatedSince && fromTimestamp(updatedSince);
        const condition = tagCondition({ includeReferrers, includeDates, includeEpochs, updatedSince: since });
        return standard.list(request, call, { name, digest }, condition);
      },
      /** A registry sets a tag without asking whether it is there: the name alone decides. */
      async createTag({ parent, tag: value }, call) {
        const row = await deps.database.write(writeContext(call, deps.clock), async (tx) => {
          if (!(await repoParents.lock(tx, parent))) throw notFound(repoType, parent);
          const before = await findTag(tx, parent, value!.name);
          const bundles = keepsCatalog(call, parent) ? value!.bundles : (before?.bundles ?? []);
          return await writeTag(tx, parent, before, tag.toRow({ ...value!, bundles }));
        });
        return tag.toMessage(row);
      },
      deleteTag: (request, call) => standard.delete(request, call),
    },
    [tag.messageRules, listRules],
  );
}
