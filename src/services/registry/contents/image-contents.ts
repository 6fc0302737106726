import { promisify } from "node:util";
import { zstdCompress } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import {
  DeleteSbomRequestSchema,
  GetSbomContentRequestSchema,
  ImageContentsService,
  ListImageFindingsRequestSchema,
  ListImagePackagesRequestSchema,
  ListSbomsRequestSchema,
  PutSbomRequestSchema,
  QueueImagesRequestSchema,
  type Sbom,
  SbomCompression,
  SbomSchema,
  SbomSource,
} from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { type EncryptedTokens, newEncryptedTokens } from "../../../aip/encrypted-token.ts";
import { failedPrecondition, invalidField, notFound } from "../../../aip/errors.ts";
import { effectivePageSize } from "../../../aip/pagination.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import type { Scope } from "../../../authz/access.ts";
import { isWithin } from "../../../model/uid.ts";
import { scopeOf } from "../../../pipeline/authorize.ts";
import { expensive, expensivePages } from "../../../pipeline/expensive.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type MessageRules, patternRule } from "../../../pipeline/text-rules.ts";
import { queryDigest } from "../../../resource/bound-page-token.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { lockRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import type { FindingPlace } from "../../../storage/images/findings-of-images.ts";
import type { ImageRow } from "../../../storage/images/images.ts";
import { findImage } from "../../../storage/images/images.ts";
import { countPackagesOf, listPackagesOf } from "../../../storage/images/packages.ts";
import { findQueued, queueUnread } from "../../../storage/images/queue.ts";
import {
  findSbom,
  findSboms,
  type SbomInfo,
  type SbomRow,
  SbomSource as StoredSource,
} from "../../../storage/images/sboms.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import { repoType } from "../repos/repos.ts";
import { architectureRule, digestRule } from "../repos/text-rules.ts";
import { affectedImages, type ImagePlace } from "./affected-images.ts";
import { queueEvaluation } from "./evaluate-images.ts";
import { checkStateOf, type ImageFamily, imageType, notCheckedIn, requireFamily } from "./family.ts";
import { findingsOf } from "./image-findings.ts";
import { contentLimits } from "./limits.ts";
import type { RegistryContent } from "./registry-content.ts";
import { readSbom, storedContent } from "./sbom-document.ts";
import { deleteUpload, putUpload, sbomType, type UploadContext } from "./uploads.ts";

const compress = promisify(zstdCompress);

/** Dependencies of the service. */
export interface ImageContentsContext extends ServiceContext, UploadContext {
  /** Undefined if no registry is configured. */
  readonly registry: RegistryContent | undefined;
}

type ContentHandlers = Handlers<typeof ImageContentsService>;

/** Serves the contents of images. */
export function imageContents(context: ImageContentsContext): Implementation {
  const handlers = { ...listings(context), ...findings(context), ...uploads(context) };
  return implement(ImageContentsService, handlers, rules);
}

function listings({
  database,
  pageTokenKey,
  registry,
}: ImageContentsContext): Pick<ContentHandlers, "listImagePackages" | "listSboms" | "getSbomContent"> {
  const tokens = newEncryptedTokens(() => pageTokenKey, "image_packages");
  return {
    async listImagePackages(request, call) {
      const limit = pageSizeOf(request);
      const boundTo = queryDigest(call, request);
      const after = placeIn(tokens, request.pageToken, boundTo);
      return await database.read(async (session) => {
        const family = await requireFamily(session, request.repoUid, request.digest, request.architecture);
        const { packages, isLast } = await packagesIn(session, family, after, limit);
        const nextPageToken = isLast ? "" : tokens.format(Buffer.from(packages.at(-1)!.purl), boundTo);
        return { packages, nextPageToken, ...(await summaryOf(session, family)) };
      });
    },

    listSboms: ({ repoUid, digest }) =>
      database.read(async (session) => {
        const family = await requireFamily(session, repoUid, digest);
        const images = new Map([...family.images, ...family.members].map((image) => [image.no, image]));
        const sboms = await findSboms(session, [...images.keys()]);
        return {
          sboms: sboms.map((sbom) => sbomMessage(sbom, images.get(sbom.image)!)),
          state: await checkStateOf(session, family),
          error: await errorOf(session, family.images),
        };
      }),

    getSbomContent: expensive(async ({ repoUid, digest, name }) => {
      const sbom = await database.read(async (session) => {
        const { no } = await requireImage(session, repoUid, digest);
        return await findSbom(session, no, name);
      });
      if (!sbom) throw notFound(sbomType, `${name} of ${digest}`);
      return await contentOf(registry, repoUid, sbom);
    }),
  };
}

function findings({
  database,
  pageTokenKey,
  settings,
}: ImageContentsContext): Pick<ContentHandlers, "listImageFindings" | "listAffectedImages"> {
  const tokens = newEncryptedTokens(() => pageTokenKey, "image_findings");
  const places = newEncryptedTokens(() => pageTokenKey, "affected_images");
  return {
    ...expensivePages({
      async listImageFindings(request, call) {
        const limit = pageSizeOf(request);
        const boundTo = queryDigest(call, request);
        const after = placeIn(tokens, request.pageToken, boundTo);
        return await database.read(async (session) => {
          const family = await requireFamily(session, request.repoUid, request.digest, request.architecture);
          const place = after === "" ? undefined : (JSON.parse(after) as FindingPlace);
          const { next, ...page } = await findingsOf(session, { family, settings }, request, place, limit);
          const nextPageToken = next ? tokens.format(Buffer.from(JSON.stringify(next)), boundTo) : "";
          return { ...page, nextPageToken, ...(await summaryOf(session, family)) };
        });
      },
    } satisfies Pick<ContentHandlers, "listImageFindings">),

    listAffectedImages: expensive(async (request, call) => {
      const limit = pageSizeOf(request);
      const boundTo = queryDigest(call, request);
      const after = placeIn(places, request.pageToken, boundTo);
      const place = after === "" ? { repoUid: "", no: 0 } : (JSON.parse(after) as ImagePlace);
      const scope = scopeWithin(scopeOf(call), request.parent);
      return await database.read(async (session) => {
        const { images, next } = await affectedImages(session, { scope, settings, call }, request, place, limit);
        return {
          images: [...images],
          nextPageToken: next ? places.format(Buffer.from(JSON.stringify(next)), boundTo) : "",
        };
      });
    }),
  };
}

function pageSizeOf({ pageSize }: { readonly pageSize: number }): number {
  const violations = newViolations();
  const limit = effectivePageSize(pageSize, violations);
  violations.throwIfAny();
  return limit;
}

/** Returns the subtrees that a caller may see, at and below a group, in byte order. */
function scopeWithin(scope: Scope, parent: string): Scope {
  const within =
    parent === ""
      ? scope
      : scope.flatMap((root) => (isWithin(parent, root) ? [parent] : isWithin(root, parent) ? [root] : []));
  return [...new Set(within)].sort();
}

function uploads(
  context: ImageContentsContext,
): Pick<ContentHandlers, "putSbom" | "deleteSbom" | "queueImages" | "evaluateImages"> {
  const { database, clock, settings } = context;
  return {
    async queueImages({ repoUid, digests }, call) {
      await database.write(writeContext(call, clock), async (tx) => {
        if (!(await lockRow(tx, repoCollection, repoUid))) throw notFound(repoType, repoUid);
        if (settings.readsContents) await queueUnread(tx, repoUid, digests);
      });
      return {};
    },

    evaluateImages: expensive(async ({ parent }, call) => ({
      packageCount: await queueEvaluation(context, parent, call),
    })),

    putSbom: expensive(async ({ repoUid, digest, content, compression }, call) => {
      const { sbom } = await putUpload(context, { repoUid, digest, content, compression }, call);
      return sbomMessage(sbom, { digest, architecture: "" });
    }),

    deleteSbom: expensive(async (request, call) => {
      await deleteUpload(context, request, call);
      return {};
    }),
  };
}

async function packagesIn(session: Session, { members }: ImageFamily, after: string, limit: number) {
  const numbers = members.map(({ no }) => no);
  const rows = await listPackagesOf(session, numbers, after, limit + 1);
  const packages = rows.slice(0, limit).map(({ purl, sources: bits }) => ({ purl, sources: sourcesIn(bits) }));
  return { packages, isLast: rows.length <= limit };
}

/** Returns how complete the packages of a family are. */
async function summaryOf(session: Session, family: ImageFamily) {
  const numbers = family.members.map(({ no }) => no);
  const reasons = notCheckedIn(await findSboms(session, numbers));
  return {
    state: await checkStateOf(session, family),
    packageCount: await countPackagesOf(session, numbers),
    notChecked: reasons.reduce((sum, { count }) => sum + count, 0),
    reasons,
  };
}

const sources: readonly (readonly [bit: number, source: SbomSource])[] = [
  [StoredSource.referrer, SbomSource.REFERRER],
  [StoredSource.attestation, SbomSource.ATTESTATION],
  [StoredSource.tag, SbomSource.TAG],
  [StoredSource.upload, SbomSource.UPLOAD],
];

function sourcesIn(bits: number): SbomSource[] {
  return sources.filter(([bit]) => (bits & bit) !== 0).map(([, source]) => source);
}

function sbomMessage(sbom: SbomInfo, image: Pick<ImageRow, "digest" | "architecture">): Sbom {
  const { name, digest, mediaType, format, tool, size, signed, packages, reasons, error, createTime } = sbom;
  return create(SbomSchema, {
    name,
    imageDigest: image.digest,
    architecture: image.architecture,
    source: sourcesIn(sbom.source)[0] ?? SbomSource.UNSPECIFIED,
    digest,
    mediaType,
    format,
    tool,
    size: BigInt(size),
    signed,
    packages,
    notChecked: reasons.reduce((sum, { count }) => sum + count, 0),
    error,
    createTime: toTimestamp(createTime),
  });
}

/** Returns the package URL after which a page begins. Throws INVALID_ARGUMENT for a token of another query or caller. */
function placeIn(tokens: EncryptedTokens, text: string, boundTo: string): string {
  if (text === "") return "";
  const place = tokens.parse(text, boundTo);
  if (!place) throw invalidField("page_token", "is not a page token of this query and caller");
  return place.toString();
}

async function requireImage(session: Session, repoUid: string, digest: string): Promise<ImageRow> {
  const image = await findImage(session, repoUid, digest);
  if (!image) throw notFound(imageType, `${digest} in ${repoUid}`);
  return image;
}

async function errorOf(session: Session, images: readonly ImageRow[]): Promise<string> {
  for (const { no } of images) {
    const error = (await findQueued(session, no))?.error ?? "";
    if (error !== "") return error;
  }
  return "";
}

/** Returns the content of an SBOM, compressed. */
async function contentOf(registry: RegistryContent | undefined, repoUid: string, sbom: SbomRow) {
  const bytes = storedContent(sbom) ?? (await compress(await readSbom(registry, repoUid, sbom)));
  if (bytes.length > contentLimits.responseBytes)
    throw failedPrecondition("SBOM_TOO_LARGE", "the SBOM has more than 3.5 MiB when compressed", sbom.name);
  return { content: bytes, compression: SbomCompression.ZSTD };
}

const nameRule = patternRule("name", /^[a-z]+:sha256:[0-9a-f]{64}$/, "^[a-z]+:sha256:[0-9a-f]{64}$");

const rules: readonly MessageRules[] = [
  { schema: ListImagePackagesRequestSchema, fields: { digest: digestRule, architecture: architectureRule } },
  { schema: ListImageFindingsRequestSchema, fields: { digest: digestRule, architecture: architectureRule } },
  { schema: ListSbomsRequestSchema, fields: { digest: digestRule } },
  { schema: GetSbomContentRequestSchema, fields: { digest: digestRule, name: nameRule } },
  { schema: PutSbomRequestSchema, fields: { digest: digestRule } },
  { schema: QueueImagesRequestSchema, fields: { digests: digestRule } },
  { schema: DeleteSbomRequestSchema, fields: { digest: digestRule, name: nameRule } },
];
