// Reads SBOMs as they were uploaded, or as they are in the registry.
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { failedPrecondition, notFound } from "../../../aip/errors.ts";
import type { SbomInfo, SbomRow } from "../../../storage/images/sboms.ts";
import type { RegistryContent } from "./registry-content.ts";
import { sbomType } from "./uploads.ts";

const decompress = promisify(zstdDecompress);

/** Returns the content of an uploaded SBOM, compressed with zstd; undefined if it is in the registry. */
export function storedContent({ content }: Pick<SbomRow, "content">): Buffer | undefined {
  return content === null ? undefined : Buffer.from(content, "base64");
}

/**
 * Returns the document of an SBOM. Throws FAILED_PRECONDITION if it is in the registry and there is none, and NOT_FOUND if the registry
 * does not have it any more.
 */
export async function readSbom(
  registry: RegistryContent | undefined,
  repoUid: string,
  { name, digest, content, size }: Pick<SbomInfo, "name" | "digest" | "size"> & Pick<SbomRow, "content">,
): Promise<Buffer> {
  const stored = storedContent({ content });
  if (stored) return await decompress(stored, { maxOutputLength: size });
  if (!registry)
    throw failedPrecondition("SBOM_IN_REGISTRY", "the SBOM is in the registry, and this server reads none", name);
  const bytes = await registry.readBlob(repoUid, digest);
  if (!bytes) throw notFound(sbomType, name);
  return bytes;
}
