// The registry methods of tags and images.
import { create } from "@bufbuild/protobuf";
import {
  type EolTagFilter,
  EolTagStatus,
  Registry,
  TagSchema as V1TagSchema,
} from "../../gen/chainguard/platform/registry/v1/registry_pb.ts";
import { ImagesService } from "../../gen/chainguard/platform/registry/v2beta1/images_pb.ts";
import {
  ListTagsRequestSchema,
  ListTagsResponseSchema,
  type Tag,
  TagSchema,
  TagsService,
} from "../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { type FieldViolation, notFound } from "../aip/errors.ts";
import { fromTimestamp, toTimestamp } from "../aip/timestamps.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { repoType } from "../services/registry/repos/repos.ts";
import { tagLister, tagType, tagWriter } from "../services/registry/tags/tags.ts";
import { findRow } from "../storage/collection/rows.ts";
import { repoCollection, tagCollection } from "../storage/registry/rows.ts";
import { findTagDigests } from "../storage/registry/tag-history.ts";
import { type AdaptedEvent, handwritten, passThrough, type V1Methods } from "./adapter.ts";
import { type CurrentApi, callOf } from "./current-api.ts";
import { type FieldNames, mapMessages } from "./fields.ts";
import { list, pageSizeOf } from "./lists.ts";
import { renamer } from "./violations.ts";

const [v1, current, images] = [Registry.method, TagsService.method, ImagesService.method];

/** Version 1 excludes kinds of tags, the current API includes them. */
const kindNames: FieldNames = Object.fromEntries(
  ["referrers", "dates", "epochs"].map((kind) => [
    `exclude_${kind}`,
    { current: `include_${kind}`, toCurrent: (isExcluded: boolean) => !isExcluded },
  ]),
);

const names: FieldNames = { last_updated: "update_time" };
const imageNames: FieldNames = { repo_id: "repo_uid", archs: "architectures", arch: "architecture" };
const fields = mapMessages(V1TagSchema, TagSchema, names);
const event: AdaptedEvent = { of: current.createTag, toV1Event: fields.toV1 };
const rename = renamer([...fields.renamed, ["parent", "repo_id"]]);

/** The maximum length of a history (published contract). */
const maxHistory = 1000;

type TagMethods =
  | `${"create" | "update" | "delete"}Tag`
  | "listTags"
  | "getRepoTagsSummary"
  | "listEolTags"
  | "listTagHistory"
  | "getArchs"
  | "getSize";

type TagHandlers = Pick<V1Methods<typeof Registry>, TagMethods>;

/** Serves tags and images in version 1. */
export function tagMethods(api: CurrentApi, context: ServiceContext): TagHandlers {
  const write = tagWriter(context);

  /** Validates a tag, which may have no digest yet: the registry sets it later. */
  function check(parent: string, tag: Tag | undefined): FieldViolation[] {
    const found = api.check(current.createTag, { parent, ...(tag && { tag }) });
    return tag?.digest === "" ? found.filter(({ field }) => field !== "digest") : found;
  }

  return {
    createTag: handwritten(current.createTag, rename, {
      event,
      check: ({ repoId, tag }) => check(repoId, tag && fields.toCurrent(tag)),
      respond: async ({ repoId, tag }, call) => fields.toV1(await write.set(repoId, fields.toCurrent(tag!), call)),
    }),

    // No counterpart: the current API sets tags by name only.
    updateTag: handwritten(undefined, renamer([...fields.renamed, ["parent", "id"]]), {
      event,
      check: (tag) => check(tag.id, fields.toCurrent(tag)),
      respond: async (tag, call) => fields.toV1(await write.replace(tag.id, fields.toCurrent(tag), call)),
    }),

    deleteTag: passThrough(api, v1.deleteTag, current.deleteTag),
    listTags: list(api, v1.listTags, current.listTags, { names: kindNames, itemNames: names }),
    getRepoTagsSummary: tagsSummary(api),
    listEolTags: eolTags(api, context),
    listTagHistory: tagHistory(api, context),
    getArchs: passThrough(api, v1.getArchs, images.getArchitectures, { names: imageNames }),
    getSize: passThrough(api, v1.getSize, images.getSize, { names: imageNames }),
  };
}

function tagsSummary(api: CurrentApi): TagHandlers["getRepoTagsSummary"] {
  return handwritten(current.getTag, renamer([["uid", "repo_id"]]), {
    check: ({ repoId }) => api.check(current.getTag, { uid: repoId }),
    async respond({ repoId, ...excluded }, call) {
      const latest = {
        uidp: { childrenOf: repoId },
        orderBy: "update_time desc",
        pageSize: 1,
        ...included(excluded),
      };
      const { tags, totalCount = 0n } = await api.readTogether(call, async (together, session) => {
        if (!(await findRow(session, repoCollection, repoId))) throw notFound(repoType, repoId);
        return await api.call(current.listTags, latest, together);
      });
      const [tag] = tags.map((each) => fields.toV1(each));
      const known = tag && { latestTag: tag, ...(tag.lastUpdated && { lastUpdated: tag.lastUpdated }) };
      return { id: repoId, tagCount: totalCount, ...known };
    },
  });
}

function eolTags(api: CurrentApi, context: ServiceContext): TagHandlers["listEolTags"] {
  const listBy = tagLister(context);
  return handwritten(current.listTags, rename, {
    // It compares the tags of all repos of a place.
    isExpensive: () => true,
    check: (filter) => api.check(current.listTags, eolRequest(filter)),
    async respond(filter, call) {
      const response = await listBy(
        create(ListTagsRequestSchema, eolRequest(filter)),
        callOf(call, current.listTags),
        true,
      );
      const { tags, nextPageToken } = create(ListTagsResponseSchema, response);
      const items = tags.map(({ uid, name }) => ({ id: uid, name, tagStatus: EolTagStatus.TAG_INACTIVE }));
      return { items, nextPageToken };
    },
  });
}

function tagHistory(api: CurrentApi, { database }: ServiceContext): TagHandlers["listTagHistory"] {
  return handwritten(current.getTag, renamer([["uid", "parent_id"]]), {
    check: ({ parentId }) => api.check(current.getTag, { uid: parentId }),
    async respond({ parentId, start, end }) {
      const range = {
        start: start ? fromTimestamp(start) : Number.MIN_SAFE_INTEGER,
        end: end ? fromTimestamp(end) : Number.MAX_SAFE_INTEGER,
        limit: maxHistory,
      };
      return await database.read(async (session) => {
        if (!(await findRow(session, tagCollection, parentId))) throw notFound(tagType, parentId);
        const found = await findTagDigests(session, parentId, range);
        return { items: found.map(({ time, digest }) => ({ updateTimestamp: toTimestamp(time), digest })) };
      });
    },
  });
}

/** Converts the excluded kinds of tags to the included ones. */
function included(excluded: { excludeReferrers?: boolean; excludeDates: boolean; excludeEpochs: boolean }) {
  const { excludeReferrers = true, excludeDates, excludeEpochs } = excluded;
  return { includeReferrers: !excludeReferrers, includeDates: !excludeDates, includeEpochs: !excludeEpochs };
}

/** Builds the current request. Signatures, which have no end of life, are excluded. */
function eolRequest({ uidp, name, pageToken, pageSize, excludeDates, excludeEpochs }: EolTagFilter) {
  const kinds = included({ excludeDates, excludeEpochs });
  return { ...(uidp && { uidp }), name, pageToken, pageSize: pageSizeOf(pageSize), ...kinds };
}
