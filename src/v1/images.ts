// The registry methods of what is in images. There are no current ones: Gatehouse's own methods page what these return at once.
import {
  ImageConfigRequestSchema,
  ManifestDigestCountFilterSchema,
  type ManifestMetadataFilter,
  type ManifestMetadataFilterEntry,
  ManifestMetadataFilterEntrySchema,
  ManifestMetadataFilterSchema,
  ManifestMetadataIndexFilterSchema,
  RawSbomRequestSchema,
  SbomRequestSchema,
  VulnReportRequestSchema,
} from "../../gen/chainguard/platform/registry/v1/image_contents_pb.ts";
import type { Registry } from "../../gen/chainguard/platform/registry/v1/registry_pb.ts";
import { expensive } from "../pipeline/expensive.ts";
import { type MessageRules, uidRule } from "../pipeline/text-rules.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { contentLimits } from "../services/registry/contents/limits.ts";
import { imageConfig } from "../services/registry/image-reports/image-config.ts";
import { imageSbom, type SbomContext } from "../services/registry/image-reports/image-sbom.ts";
import { digestCount, manifestMetadata } from "../services/registry/image-reports/manifest-metadata.ts";
import { vulnerabilityReport } from "../services/registry/image-reports/vulnerability-report.ts";
import { architectureRule, digestRule } from "../services/registry/repos/text-rules.ts";
import type { V1Methods } from "./adapter.ts";

/** Dependencies of version 1. */
export type V1Context = ServiceContext & SbomContext;

type ImageMethods =
  | "getSbom"
  | "getRawSbom"
  | "getVulnReport"
  | "getImageConfig"
  | "listManifestMetadata"
  | "getManifestDigestCount";

/** Serves SBOMs, vulnerabilities, configurations and packages of images in version 1. */
export function imageMethods(context: V1Context): Pick<V1Methods<typeof Registry>, ImageMethods> {
  return {
    getSbom: expensive((request) => imageSbom(context, request)),
    getRawSbom: expensive(async (request) => ({ rawSbom: (await imageSbom(context, request)).rawSbom.toString() })),
    getVulnReport: expensive((request) => vulnerabilityReport(context, request)),
    getImageConfig: expensive((request) => imageConfig(context, request)),
    listManifestMetadata: expensive((request) => manifestMetadata(context, request)),
    getManifestDigestCount: expensive(async ({ parentId }) => ({
      count: BigInt(await digestCount(context, parentId)),
    })),
  };
}

const imageFields = { repo_id: uidRule, digest: digestRule, arch: architectureRule };

/** The rules of these methods. */
export const imageRules: readonly MessageRules[] = [
  { schema: SbomRequestSchema, fields: imageFields },
  { schema: RawSbomRequestSchema, fields: imageFields },
  { schema: ImageConfigRequestSchema, fields: imageFields },
  { schema: VulnReportRequestSchema, fields: { repo_id: uidRule, digest: digestRule } },
  { schema: ManifestDigestCountFilterSchema, fields: { parent_id: uidRule } },
  {
    schema: ManifestMetadataFilterSchema,
    fields: { repo_id: uidRule },
    bounds: { items: { maxItems: contentLimits.listedImages } },
    check: (message) => tooMany(message as ManifestMetadataFilter),
  },
  {
    schema: ManifestMetadataFilterEntrySchema,
    fields: { image_digest: digestRule },
    check: (message) => unset(message as ManifestMetadataFilterEntry),
  },
  { schema: ManifestMetadataIndexFilterSchema, fields: { digest: digestRule, arch: architectureRule } },
];

function tooMany({ items }: ManifestMetadataFilter) {
  const { listedImages } = contentLimits;
  return items.length > listedImages
    ? [{ field: "items", description: `must have at most ${listedImages} items` }]
    : [];
}

function unset({ filter }: ManifestMetadataFilterEntry) {
  return filter.case === undefined ? [{ field: "filter", description: "must be set" }] : [];
}
