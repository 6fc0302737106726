import {
  type ListTagsRequest,
  ListTagsRequestSchema,
  type Tag,
  TagSchema,
  TagsService,
} from "../../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { alreadyExists, notFound } from "../../../aip/errors.ts";
import { fromTimestamp, toTimestamp } from "../../../aip/timestamps.ts";
import type { Call } from "../../../pipeline/call.ts";
import { expensive } from "../../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import type { MessageRules } from "../../../pipeline/text-rules.ts";
import { mapUniqueViolation } from "../../../resource/already-exists.ts";
import { commonOrders, defineResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { type ParentCollection, standardMethods } from "../../../resource/standard-methods.ts";
import { keepRow, lockRow } from "../../../storage/collection/rows.ts";
import { findTagByName, tagCondition } from "../../../storage/registry/repos-and-tags.ts";
import { repoCollection, type TagRow, tagCollection } from "../../../storage/registry/rows.ts";
import { repoType } from "../repos/repos.ts";
import { bundleRule, canManageCatalog, digestRule, tagRule } from "../repos/text-rules.ts";
import { kindsOf, writeTag } from "./write-tag.ts";

export const tag = defineResource<typeof TagSchema, TagRow>({
  schema: TagSchema,
  plural: "tags",
  collection: tagCollection,
  orderable: commonOrders,
  rules: { name: tagRule, digest: digestRule, bundles: bundleRule },
  toMessage: ({ uid, name, digest, deprecated, bundles, updateTime }): Tag => ({
    $typeName: "chainguard.platform.registry.v2beta1.Tag",
    uid,
    name,
    digest,
    deprecated,
    bundles,
    updateTime: toTimestamp(updateTime),
  }),
  toRow: ({ name, digest, deprecated, bundles }) => ({ name, digest, deprecated, bundles, ...kindsOf(name) }),
});

/** Converts a stored tag to its message. */
export const tagMessage = tag.toMessage;

/** The type of tags in errors. */
export const tagType = tag.type;

/** The rules of the list filters. */
const listRules: MessageRules = { schema: ListTagsRequestSchema, fields: { digest: digestRule } };

const repoParents: ParentCollection = {
  type: repoType,
  keep: (tx, uid) => keepRow(tx, repoCollection, uid),
  lock: (tx, uid) => lockRow(tx, repoCollection, uid),
};

/** Makes the function that lists tags. `deprecatedOnly`, which only version 1 uses, keeps tags that get no more updates. */
export function tagLister(context: ServiceContext) {
  const standard = standardMethods(tag, repoParents, context);
  return (request: ListTagsRequest, call: Call, deprecatedOnly = false) => {
    const { name, digest, updatedSince, includeReferrers, includeDates, includeEpochs } = request;
    const since = updatedSince && fromTimestamp(updatedSince);
    const kinds = { includeReferrers, includeDates, includeEpochs, updatedSince: since, deprecatedOnly };
    return standard.list(request, call, { name, digest }, tagCondition(kinds));
  };
}

/** Returns the functions that write tags, for all versions of the API. An empty digest keeps the stored one. */
export function tagWriter(context: ServiceContext) {
  const standard = standardMethods(tag, repoParents, context);
  const { database, clock } = context;

  /** Returns the columns to store. Bundles are kept unless the caller may manage the catalog. */
  function allowed(call: Call, value: Tag, before: TagRow | undefined, repoUid: string) {
    const bundles = canManageCatalog(call, repoUid) ? value.bundles : (before?.bundles ?? []);
    return tag.toRow({ ...value, bundles, digest: value.digest || (before?.digest ?? "") });
  }

  return {
    /** Creates or updates the tag with this name, as a registry does. */
    async set(parent: string, value: Tag, call: Call) {
      const row = await database.write(writeContext(call, clock), async (tx) => {
        if (!(await repoParents.lock(tx, parent))) throw notFound(repoType, parent);
        const before = await findTagByName(tx, parent, value.name);
        return await writeTag(tx, parent, before, allowed(call, value, before, parent));
      });
      return standard.message(row);
    },

    /** Replaces the tag with this uid, including its name. */
    async replace(uid: string, value: Tag, call: Call) {
      const exists = () => alreadyExists(tag.type, value.name, `the repo has a tag named ${value.name}`);
      const row = await mapUniqueViolation(exists, () =>
        database.write(writeContext(call, clock), async (tx) => {
          const before = await standard.find(tx, uid);
          return await writeTag(tx, before.parent, before, allowed(call, value, before, before.parent));
        }),
      );
      return standard.message(row);
    },
  };
}

/** Whether a list compares the tags of many repos with its filters: no index answers these. */
function comparesMany({ uidp, digest, updatedSince, includeReferrers, includeDates, includeEpochs }: ListTagsRequest) {
  const isFiltered =
    digest !== "" || updatedSince !== undefined || !(includeReferrers && includeDates && includeEpochs);
  return isFiltered && (uidp?.childrenOf ?? "") === "" && (uidp?.ids.length ?? 0) === 0;
}

/** Serves tags. */
export function tags(context: ServiceContext): Implementation {
  const standard = standardMethods(tag, repoParents, context);
  const [list, write] = [tagLister(context), tagWriter(context)];
  return implement(
    TagsService,
    {
      getTag: standard.get,
      listTags: expensive((request, call) => list(request, call), comparesMany),
      createTag: ({ parent, tag: value }, call) => write.set(parent, value!, call),
      deleteTag: (request, call) => standard.delete(request, call),
    },
    [...tag.messageRules, listRules],
  );
}
