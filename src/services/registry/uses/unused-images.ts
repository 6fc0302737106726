// Lists images that nobody used for a while.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListUnusedImagesRequest,
  ListUnusedImagesResponseSchema,
  UnusedImageSchema,
} from "../../../../gen/gatehouse/registry/v1/image_uses_pb.ts";
import { failedPrecondition } from "../../../aip/errors.ts";
import { formatPageToken } from "../../../aip/page-token.ts";
import { effectivePageSize } from "../../../aip/pagination.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import { dayMs, hourMs } from "../../../base/clock.ts";
import { isWithin } from "../../../model/uid.ts";
import { scopeOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { queryDigest, readToken } from "../../../resource/bound-page-token.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { readCounter } from "../../../storage/engine/counters.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { tagCollection } from "../../../storage/registry/rows.ts";
import {
  countUnused,
  findTagsOfImages,
  imageKey,
  listUnused,
  type UnusedFilter,
  type UnusedRow,
} from "../../../storage/registry/use-queries.ts";
import { coverageOf, repoRange, requireCoverage, shownTags } from "./coverage.ts";

/** The bounds of the days without a use, and their number if the request has none. */
const unusedDays = { least: 1, most: 1100, usual: 90 };

/** How many tags one call looks through. */
const maxTags = 100_000;

/** Makes the function that lists unused images. */
export function listUnusedImages(context: ServiceContext) {
  const { database, clock, pageTokenKey, settings } = context;
  return async (
    request: ListUnusedImagesRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ListUnusedImagesResponseSchema>> => {
    const { size, days } = readRequest(request);
    const query = queryDigest(call, request);
    const token = readToken(context, call, request.pageToken, query);
    const roots = rootsOf(request.parent, call);
    const since = clock() - days * dayMs;
    const filter = { since, hour: Math.floor(since / hourMs), untagged: request.untagged };
    return await database.read(async (session) => {
      await requireFewTags(session, roots);
      const coverage = await coverageOf(session, context, roots.map(repoRange));
      if (!request.acceptIncomplete) requireCoverage(coverage, since, settings.usesKeptMs);
      const after = { repoUid: token?.uid ?? "", digest: String(token?.value ?? "") };
      const found = await readPage(session, roots, filter, after, size + 1);
      const shown = found.slice(0, size);
      const last = found.length > size ? shown.at(-1) : undefined;
      return {
        images: await show(session, shown),
        nextPageToken: last
          ? formatPageToken(pageTokenKey, {
              issuedAt: clock(),
              query,
              order: "",
              value: last.digest,
              uid: last.repoUid,
            })
          : "",
        totalCount: BigInt(await countAll(session, roots, filter)),
        ...coverage.shown,
      };
    });
  };
}

function readRequest({ pageSize, unusedDays: days }: ListUnusedImagesRequest) {
  const violations = newViolations();
  const size = effectivePageSize(pageSize, violations);
  const { least, most, usual } = unusedDays;
  if (days !== 0 && (days < least || days > most))
    violations.add("unused_days", `must be from ${least} to ${most}, or 0 for ${usual}`);
  violations.throwIfAny();
  return { size, days: days || usual };
}

/** Returns the groups and repos whose subtrees are listed, in the order of their uids. */
function rootsOf(parent: string, call: Call): string[] {
  const scope = scopeOf(call);
  const roots =
    parent === ""
      ? scope
      : scope.flatMap((root) => (isWithin(parent, root) ? [parent] : isWithin(root, parent) ? [root] : []));
  return [...roots].sort();
}

/** Throws TOO_MANY_TAGS if the repos have more tags than one call looks through. */
async function requireFewTags(session: Session, roots: readonly string[]): Promise<void> {
  let total = 0;
  for (const root of roots) total += await readCounter(session, root, tagCollection.kind);
  if (total > maxTags)
    throw failedPrecondition("TOO_MANY_TAGS", `this list looks through at most ${maxTags} tags; name a smaller group`);
}

async function readPage(
  session: Session,
  roots: readonly string[],
  filter: UnusedFilter,
  after: Pick<UnusedRow, "repoUid" | "digest">,
  limit: number,
): Promise<UnusedRow[]> {
  const found: UnusedRow[] = [];
  for (const range of roots.map(repoRange)) {
    if (range.to <= after.repoUid) continue;
    found.push(...(await listUnused(session, range, filter, after, limit - found.length)));
    if (found.length === limit) break;
  }
  return found;
}

async function countAll(session: Session, roots: readonly string[], filter: UnusedFilter): Promise<number> {
  let total = 0;
  for (const root of roots) total += await countUnused(session, repoRange(root), filter);
  return total;
}

async function show(
  session: Session,
  found: readonly UnusedRow[],
): Promise<MessageInitShape<typeof UnusedImageSchema>[]> {
  const tags = await findTagsOfImages(session, found, shownTags);
  return found.map(({ repoUid, digest, pushTime, last }) => ({
    repoUid,
    digest,
    tags: tags.get(imageKey({ repoUid, digest })) ?? [],
    ...(pushTime > 0 && { pushTime: toTimestamp(pushTime) }),
    ...(last !== null && { lastUseTime: toTimestamp(last * hourMs) }),
  }));
}
