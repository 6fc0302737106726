// Says who used images and tags.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type FindTagUsesRequest,
  FindTagUsesRequestSchema,
  type FindTagUsesResponseSchema,
  type ImageUseSchema,
  ImageUsesService,
  type ListImageUsesRequest,
  ListImageUsesRequestSchema,
  type ListImageUsesResponseSchema,
  ListUnusedImagesRequestSchema,
} from "../../../../gen/gatehouse/registry/v1/image_uses_pb.ts";
import { invalidField, notFound } from "../../../aip/errors.ts";
import { formatPageToken } from "../../../aip/page-token.ts";
import { effectivePageSize, maxPageSize } from "../../../aip/pagination.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import { hourMs } from "../../../base/clock.ts";
import { isUid, parentOf } from "../../../model/uid.ts";
import type { Call } from "../../../pipeline/call.ts";
import { allExpensive } from "../../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { uidRule } from "../../../pipeline/text-rules.ts";
import { queryDigest, readToken } from "../../../resource/bound-page-token.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findImageNumbers } from "../../../storage/images/images.ts";
import { findKnownDigests } from "../../../storage/registry/manifests.ts";
import { findTagsByDigest } from "../../../storage/registry/repos-and-tags.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import {
  findTagsOfImages,
  findTagUses,
  imageKey,
  listUses,
  type UsePosition,
  type UseSummary,
} from "../../../storage/registry/use-queries.ts";
import { identityShower } from "../../access/shown-identities.ts";
import { repoType } from "../repos/repos.ts";
import { digestRule, tagRule } from "../repos/text-rules.ts";
import { actorOf, shownKind } from "./actors.ts";
import { coverageOf, repoRange, shownTags } from "./coverage.ts";
import { listUnusedImages } from "./unused-images.ts";

/** Serves the uses of images. */
export function imageUses(context: ServiceContext): Implementation {
  return implement(
    ImageUsesService,
    allExpensive({
      listImageUses: uses(context),
      findTagUses: tagUses(context),
      listUnusedImages: listUnusedImages(context),
    }),
    [
      { schema: ListImageUsesRequestSchema, fields: { digest: digestRule } },
      {
        schema: FindTagUsesRequestSchema,
        fields: { tags: tagRule },
        bounds: { tags: { maxItems: maxPageSize } },
      },
      { schema: ListUnusedImagesRequestSchema, fields: { parent: uidRule } },
    ],
  );
}

function tagUses(context: ServiceContext) {
  return async ({ repoUid, tags }: FindTagUsesRequest): Promise<MessageInitShape<typeof FindTagUsesResponseSchema>> => {
    if (tags.length > maxPageSize) throw invalidField("tags", `must not have more than ${maxPageSize} items`);
    return await context.database.read(async (session) => {
      await requireRepo(session, repoUid);
      const found = new Map((await findTagUses(session, repoUid, tags)).map((use) => [use.name, use]));
      return {
        uses: [...new Set(tags)].flatMap((tag) => {
          const use = found.get(tag);
          if (!use) return [];
          return [
            {
              tag,
              ...timeOf("lastPullTime", use.pull),
              ...timeOf("lastCheckTime", use.check),
              ...timeOf("imageLastUseTime", use.image),
            },
          ];
        }),
        ...(await coverageOf(session, context, [repoRange(repoUid)])).shown,
      };
    });
  };
}

/** Returns a field with the beginning of an hour; none for null. */
function timeOf<N extends string>(name: N, hour: number | null) {
  return hour === null ? {} : ({ [name]: toTimestamp(hour * hourMs) } as Record<N, ReturnType<typeof toTimestamp>>);
}

function uses(context: ServiceContext) {
  const { database, clock, pageTokenKey } = context;
  return async (
    request: ListImageUsesRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ListImageUsesResponseSchema>> => {
    const { repoUid, digest } = request;
    const violations = newViolations();
    const size = effectivePageSize(request.pageSize, violations);
    violations.throwIfAny();
    const query = queryDigest(call, request);
    const token = readToken(context, call, request.pageToken, query);
    return await database.read(async (session) => {
      await requireRepo(session, repoUid);
      if (digest !== "") await requireDigest(session, repoUid, digest);
      const found = await listUses(session, { repoUid, digest }, token && parsePosition(token), size + 1);
      const shown = found.slice(0, size);
      const last = found.length > size ? shown.at(-1) : undefined;
      return {
        uses: await show(session, repoUid, shown, call),
        nextPageToken: last
          ? formatPageToken(pageTokenKey, { issuedAt: clock(), query, order: "", ...formatPosition(last) })
          : "",
        ...(await coverageOf(session, context, [repoRange(repoUid)])).shown,
      };
    });
  };
}

/** Page tokens have a value and a uid. */
function formatPosition({ last, digest, kind, actor }: UsePosition) {
  return { value: last, uid: JSON.stringify([digest, kind, actor]) };
}

function parsePosition({ value, uid }: { readonly value: string | number; readonly uid: string }): UsePosition {
  const [digest, kind, actor] = JSON.parse(uid);
  return { last: Number(value), digest, kind, actor };
}

async function requireRepo(session: Session, uid: string): Promise<void> {
  if (!(await findRow(session, repoCollection, uid))) throw notFound(repoType, uid);
}

/** Throws NOT_FOUND unless a push, a tag or a use has named the digest. */
async function requireDigest(session: Session, repoUid: string, digest: string): Promise<void> {
  const isKnown =
    (await findImageNumbers(session, repoUid, [digest])).size > 0 ||
    (await findKnownDigests(session, repoUid, [digest])).length > 0 ||
    (await findTagsByDigest(session, repoUid, digest, 1)).length > 0;
  if (!isKnown) throw notFound("registry.chainguard.dev/Image", `${digest} in ${repoUid}`);
}

async function show(
  session: Session,
  repoUid: string,
  found: readonly UseSummary[],
  call: Call,
): Promise<MessageInitShape<typeof ImageUseSchema>[]> {
  const images = found.map(({ digest }) => ({ repoUid, digest }));
  const tags = await findTagsOfImages(session, images, shownTags);
  const uids = found.map(({ actor }) => actor).filter(isUid);
  const identityOf = await identityShower(session, uids, parentOf(repoUid), call);
  return found.map(({ digest, kind, actor, first, last, count }) => ({
    digest,
    tags: tags.get(imageKey({ repoUid, digest })) ?? [],
    kind: shownKind(kind),
    ...actorOf(actor, identityOf),
    firstUseTime: toTimestamp(first * hourMs),
    lastUseTime: toTimestamp(last * hourMs),
    count: BigInt(count),
  }));
}
