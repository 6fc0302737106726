// Reads from a manifest the architectures of an image, its size for each, and the manifests of an index.
import { hash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import type { ImageDescription } from "../storage/registry/manifests.ts";

/** An image for one architecture. */
type ImagePlatform = ImageDescription["platforms"][number];

/** Fetches the content of a digest, or a manifest by its tag. Returns undefined if the registry does not have it. */
export type FetchContent = (
  kind: "manifests" | "blobs",
  repository: string,
  reference: string,
) => Promise<Buffer | undefined>;

/** Fetches the pages of the index of the manifests that refer to a digest. Ends at once if the registry has no API for it. */
export type FetchReferrers = (repository: string, digest: string) => AsyncIterable<Buffer>;

/** Gives the bytes of a blob to `read` as they come, and returns its result; undefined if the registry does not have the blob. */
export type StreamBlob = <T>(
  repository: string,
  digest: string,
  read: (bytes: AsyncIterable<Buffer>) => Promise<T>,
) => Promise<T | undefined>;

/** A registry to read documents about images from. */
export interface RegistrySource {
  /** Fetches manifests. */
  readonly content: FetchContent;
  readonly blob: StreamBlob;
  readonly referrers: FetchReferrers;
}

/** The maximum number of manifests of one index that are read. */
const maxPlatforms = 64;

/** The media types of manifests and indexes: OCI image-spec 1.1, and Docker's older ones. */
export const manifestTypes: readonly string[] = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];

/** The form of a manifest digest. */
export const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** The registry returned other content than requested, or none. */
export class ContentError extends Error {
  override readonly name = "ContentError";
}

/** A manifest that the registry does not have, perhaps because it was deleted after the push. */
export class MissingManifest extends ContentError {}

/**
 * Describes an image.
 *
 * All content is verified against its digest, so a registry can omit content but not forge it.
 */
export async function describeImage(
  fetch: FetchContent,
  repository: string,
  digest: string,
): Promise<ImageDescription> {
  const manifest = await fetchObject(fetch, "manifests", repository, digest);
  if (!manifest) throw new MissingManifest(`${repository}@${digest} is not there`);
  if (Array.isArray(manifest.manifests)) return await describeIndex(fetch, repository, manifest.manifests);
  const architecture = await readArchitecture(fetch, repository, manifest);
  const size = sizeOf(manifest);
  return { platforms: architecture === undefined || size === undefined ? [] : [{ architecture, size }], children: [] };
}

async function describeIndex(fetch: FetchContent, repository: string, listed: unknown[]): Promise<ImageDescription> {
  const items = listed.slice(0, maxPlatforms).filter(isJsonObject);
  const digests = items.flatMap(({ digest }) => (isDigest(digest) ? [digest] : []));
  return { platforms: await readPlatforms(fetch, repository, items), children: [...new Set(digests)] };
}

async function readPlatforms(
  fetch: FetchContent,
  repository: string,
  items: readonly JsonObject[],
): Promise<ImagePlatform[]> {
  const found = new Map<string, ImagePlatform>();
  const children = items.map(readDescriptor);
  // If two differ only in the operating system, the architecture means the one for Linux.
  children.sort((a, b) => Number(b?.os === "linux") - Number(a?.os === "linux"));
  for (const child of children) {
    if (!child || found.has(child.architecture)) continue;
    const manifest = await fetchObject(fetch, "manifests", repository, child.digest);
    // OCI distribution-spec 1.1, "Pushing Manifests": a registry may accept an index whose manifests it does not have.
    if (!manifest) continue;
    const architecture = child.architecture || (await readArchitecture(fetch, repository, manifest));
    const size = sizeOf(manifest);
    if (architecture === undefined || size === undefined || found.has(architecture)) continue;
    found.set(architecture, { architecture, size });
  }
  return [...found.values()];
}

/**
 * The platform is optional (OCI image-spec 1.1, "Image Index"). Without it the architecture, empty here, is in the
 * configuration.
 */
function readDescriptor({ digest, platform }: JsonObject) {
  if (!isDigest(digest)) return undefined;
  if (platform === undefined) return { digest, architecture: "", os: undefined };
  if (!isJsonObject(platform)) return undefined;
  const architecture = architectureOf(platform);
  return architecture === undefined ? undefined : { digest, architecture, os: platform.os };
}

async function readArchitecture(fetch: FetchContent, repository: string, { config }: JsonObject) {
  if (!isJsonObject(config) || !isDigest(config.digest)) return undefined;
  // OCI image-spec, "Guidelines for Artifact Usage": the configuration of other artifacts has another media type.
  if (
    !/^application\/vnd\.(?:oci\.image\.config\.v1|docker\.container\.image\.v1)\+json$/.test(String(config.mediaType))
  )
    return undefined;
  const read = await fetchObject(fetch, "blobs", repository, config.digest);
  if (!read) throw new ContentError(`${repository}@${config.digest} is not there`);
  return architectureOf(read);
}

function isDigest(value: unknown): value is string {
  return typeof value === "string" && digestPattern.test(value);
}

/** OCI image-spec, "Platform": the variant matters for arm only. Attestations have the architecture `unknown`. */
function architectureOf({ architecture, variant }: JsonObject): string | undefined {
  if (typeof architecture !== "string" || !/^[a-z0-9_]{1,32}$/.test(architecture)) return undefined;
  if (architecture === "unknown") return undefined;
  const isVariant = architecture === "arm" && typeof variant === "string" && /^v\d$/.test(variant);
  return isVariant ? `arm/${variant}` : architecture;
}

function sizeOf({ config, layers }: JsonObject): number | undefined {
  if (!isJsonObject(config) || !Array.isArray(layers)) return undefined;
  const sizes = [config, ...layers].map((item) => (isJsonObject(item) ? item.size : undefined));
  const total = sizes.reduce(
    (sum: number, size) => sum + (typeof size === "number" && size >= 0 ? size : Number.NaN),
    0,
  );
  return Number.isSafeInteger(total) ? total : undefined;
}

async function fetchObject(fetch: FetchContent, kind: "manifests" | "blobs", repository: string, digest: string) {
  const bytes = await fetch(kind, repository, digest);
  if (!bytes) return undefined;
  if (`sha256:${hash("sha256", bytes)}` !== digest)
    throw new ContentError(`${repository}@${digest} has another digest`);
  return parseObject(bytes.toString(), `${repository}@${digest}`);
}

function parseObject(text: string, what: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ContentError(`${what} is not JSON`);
  }
  if (!isJsonObject(value)) throw new ContentError(`${what} is not a JSON object`);
  return value;
}
