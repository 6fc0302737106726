// The SBOM of an image, as published methods return it.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Sbom2_Source, type Sbom2Schema } from "../../../../gen/chainguard/platform/tenant/v1/sbom_pb.ts";
import { failedPrecondition, notFound } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { compareTexts } from "../../../base/compare-texts.ts";
import type { Database } from "../../../storage/database.ts";
import { findSbom, findSboms } from "../../../storage/images/sboms.ts";
import { contentLimits } from "../contents/limits.ts";
import type { RegistryContent } from "../contents/registry-content.ts";
import { readSbom } from "../contents/sbom-document.ts";
import { sbomType } from "../contents/uploads.ts";
import { requirePlatform } from "./platform.ts";

/** Dependencies of reading SBOMs. */
export interface SbomContext {
  readonly database: Pick<Database, "read">;
  /** Undefined if no registry is configured. */
  readonly registry: RegistryContent | undefined;
}

/** Identifies an image. */
export interface NamedImage {
  readonly repoId: string;
  readonly digest: string;
  readonly arch: string;
}

/** Returns an SBOM of an image with its document: of several, the one with the most packages, by name if these are equal. */
export async function imageSbom(
  { database, registry }: SbomContext,
  { repoId, digest, arch }: NamedImage,
): Promise<MessageInitShape<typeof Sbom2Schema> & { readonly rawSbom: Buffer }> {
  const found = await database.read(async (session) => {
    const { source } = await requirePlatform(session, repoId, digest, arch);
    const readable = source ? (await findSboms(session, [source.no])).filter(({ error }) => error === "") : [];
    const [best] = readable.sort((a, b) => b.packages - a.packages || compareTexts(a.name, b.name));
    const sbom = source && best && (await findSbom(session, source.no, best.name));
    return sbom && { sbom, source };
  });
  if (!found) throw notFound(sbomType, `${digest} in ${repoId}`);
  const { sbom, source } = found;
  const { name, format, tool, size } = sbom;
  if (size > contentLimits.responseBytes) throw tooLarge(name);
  const rawSbom = await readSbom(registry, repoId, sbom);
  const lastSeen = source.readTime ?? sbom.createTime;
  return {
    id: name,
    rawSbom,
    lastSeen: toTimestamp(lastSeen),
    tool,
    format,
    source: Sbom2_Source.INGESTED,
    digest: source.digest,
  };
}

function tooLarge(name: string) {
  return failedPrecondition(
    "SBOM_TOO_LARGE",
    "the SBOM has more than 3.5 MiB: GetSbomContent of gatehouse.registry.v1.ImageContentsService returns it compressed",
    name,
  );
}
