// The methods of the registry that are about tags and images.
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
import { repoType } from "../services/registry/repos.ts";
import { tagLister, tagType, tagWriter } from "../services/registry/tags.ts";
import { findRow } from "../storage/collection/rows.ts";
import { repoCollection, tagCollection } from "../storage/registry/rows.ts";
import { findTagDigests } from "../storage/registry/tag-history.ts";
import { type AdaptedEvent, handwritten, same, type V1Methods } from "./adapter.ts";
import { callOf, type Today } from "./current-api.ts";
import { correspond, type Names } from "./fields.ts";
import { list, pageSizeOf } from "./lists.ts";
import { renamer } from "./violations.ts";

const [v1, now, images] = [Registry.method, TagsService.method, ImagesService.method];

/** Version 1 leaves kinds of tags out, today takes them in. */
const kindNames: Names = Object.fromEntries(
  ["referrers", "dates", "epochs"].map((kind) => [
    `exclude_${kind}`,
    { now: `include_${kind}`, toNow: (isExcluded: boolean) => !isExcluded },
  ]),
);

const names: Names = { last_updated: "update_time" };
const imageNames: Names = { repo_id: "repo_uid", archs: "architectures", arch: "architecture" };
const fields = correspond(V1TagSchema, TagSchema, names);
const event: AdaptedEvent = { of: now.createTag, told: fields.toV1 };
const rename = renamer([...fields.renamed, ["parent", "repo_id"]]);

/** The published history has this many digests at most. */
const maxHistory = 1000;

type TagMethods =
  | `${"create" | "update" | "delete"}Tag`
  | "listTags"
  | "getRepoTagsSummary"
  | "listEolTags"
  | "listTagHistory"
  | "getArchs"
  | "getSize";

/** Serves tags, and what is known of images, as version 1 has them. */
export function tagMethods(today: Today, context: ServiceContext): Pick<V1Methods<typeof Registry>, TagMethods> {
  const { database } = context;
  const write = tagWriter(context);
  const listBy = tagLister(context);

  /** A tag may come without a digest, which a registry sets later. */
  function check(parent: string, tag: Tag | undefined): FieldViolation[] {
    const found = today.check(now.createTag, { parent, ...(tag && { tag }) });
    return tag?.digest === "" ? found.filter(({ field }) => field !== "digest") : found;
  }

  return {
    createTag: handwritten(now.createTag, rename, {
      event,
      check: ({ repoId, tag }) => check(repoId, tag && fields.toNow(tag)),
      answer: async ({ repoId, tag }, call) => fields.toV1(await write.set(repoId, fields.toNow(tag!), call)),
    }),

    // Today a tag is only ever set by its name, so there is no method to compare this one with.
    updateTag: handwritten(undefined, renamer([...fields.renamed, ["parent", "id"]]), {
      event,
      check: (tag) => check(tag.id, fields.toNow(tag)),
      answer: async (tag, call) => fields.toV1(await write.replace(tag.id, fields.toNow(tag), call)),
    }),

    deleteTag: same(today, v1.deleteTag, now.deleteTag),

    listTags: list(today, v1.listTags, now.listTags, { names: kindNames, itemNames: names }),

    getRepoTagsSummary: handwritten(now.getTag, renamer([["uid", "repo_id"]]), {
      check: ({ repoId }) => today.check(now.getTag, { uid: repoId }),
      async answer({ repoId, ...excluded }, call) {
        const latest = {
          uidp: { childrenOf: repoId },
          orderBy: "update_time desc",
          pageSize: 1,
          ...included(excluded),
        };
        const { tags, totalCount = 0n } = await today.readTogether(call, async (together, session) => {
          if (!(await findRow(session, repoCollection, repoId))) throw notFound(repoType, repoId);
          return await today.call(now.listTags, latest, together);
        });
        const [tag] = tags.map((each) => fields.toV1(each));
        const known = tag && { latestTag: tag, ...(tag.lastUpdated && { lastUpdated: tag.lastUpdated }) };
        return { id: repoId, tagCount: totalCount, ...known };
      },
    }),

    listEolTags: handwritten(now.listTags, rename, {
      check: (filter) => today.check(now.listTags, eolRequest(filter)),
      async answer(filter, call) {
        const reply = await listBy(create(ListTagsRequestSchema, eolRequest(filter)), callOf(call, now.listTags), true);
        const { tags, nextPageToken } = create(ListTagsResponseSchema, reply);
        const items = tags.map(({ uid, name }) => ({ id: uid, name, tagStatus: EolTagStatus.TAG_INACTIVE }));
        return { items, nextPageToken };
      },
    }),

    listTagHistory: handwritten(now.getTag, renamer([["uid", "parent_id"]]), {
      check: ({ parentId }) => today.check(now.getTag, { uid: parentId }),
      async answer({ parentId, start, end }) {
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
    }),

    getArchs: same(today, v1.getArchs, images.getArchitectures, { names: imageNames }),
    getSize: same(today, v1.getSize, images.getSize, { names: imageNames }),
  };
}

/** The kinds of tags that a request does not leave out. */
function included(excluded: { excludeReferrers?: boolean; excludeDates: boolean; excludeEpochs: boolean }) {
  const { excludeReferrers = true, excludeDates, excludeEpochs } = excluded;
  return { includeReferrers: !excludeReferrers, includeDates: !excludeDates, includeEpochs: !excludeEpochs };
}

/** Signatures do not come to an end of life, so they are left out. */
function eolRequest({ uidp, name, pageToken, pageSize, excludeDates, excludeEpochs }: EolTagFilter) {
  const kinds = included({ excludeDates, excludeEpochs });
  return { ...(uidp && { uidp }), name, pageToken, pageSize: pageSizeOf(pageSize), ...kinds };
}
