// What a manifest says of an image: the architectures that it is for, and how large it is for each.
import { hash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../base/json.ts";

/** An image as far as one architecture is concerned. */
export interface ImagePlatform {
  /** As images name it (`amd64`, `arm64`, `arm/v7`). */
  readonly architecture: string;
  /** Of the layers and the configuration, in bytes. */
  readonly size: number;
}

/** Gets what a registry stores under a digest, or a manifest by its tag; undefined when the registry says that it has none. */
export type FetchContent = (
  kind: "manifests" | "blobs",
  repository: string,
  reference: string,
) => Promise<Buffer | undefined>;

/** How many manifests of one index are looked at. */
const maxPlatforms = 64;

/** The media types of manifests and of indexes of them: those of OCI image-spec 1.1, and those that docker had before. */
export const manifestTypes: readonly string[] = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];

/** What the digest of a manifest looks like. */
export const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** A registry that has something else than what was asked for, or nothing. */
export class ContentError extends Error {
  override readonly name = "ContentError";
}

/** A manifest that the registry does not have. Somebody may have deleted it after it was pushed. */
export class MissingManifest extends ContentError {}

/**
 * Finds out what there is of an image; empty for what is no image, such as a signature or a chart.
 *
 * Everything is checked against its digest, so that a registry can leave something out but not make it up.
 */
export async function describeImage(fetch: FetchContent, repository: string, digest: string): Promise<ImagePlatform[]> {
  const manifest = await fetchObject(fetch, "manifests", repository, digest);
  if (!manifest) throw new MissingManifest(`${repository}@${digest} is not there`);
  if (Array.isArray(manifest.manifests)) return await describeIndex(fetch, repository, manifest.manifests);
  const architecture = await readArchitecture(fetch, repository, manifest);
  const size = sizeOf(manifest);
  return architecture === undefined || size === undefined ? [] : [{ architecture, size }];
}

async function describeIndex(fetch: FetchContent, repository: string, items: unknown[]): Promise<ImagePlatform[]> {
  const found = new Map<string, ImagePlatform>();
  const children = items.slice(0, maxPlatforms).filter(isJsonObject).map(readDescriptor);
  // Where two differ in the operating system alone, an architecture means that of Linux.
  children.sort((a, b) => Number(b?.os === "linux") - Number(a?.os === "linux"));
  for (const child of children) {
    if (!child || found.has(child.architecture)) continue;
    const manifest = await fetchObject(fetch, "manifests", repository, child.digest);
    // OCI distribution-spec 1.1, "Pushing Manifests": a registry need not refuse an index of what it does not have.
    if (!manifest) continue;
    const architecture = child.architecture || (await readArchitecture(fetch, repository, manifest));
    const size = sizeOf(manifest);
    if (architecture === undefined || size === undefined || found.has(architecture)) continue;
    found.set(architecture, { architecture, size });
  }
  return [...found.values()];
}

/** The platform is optional (OCI image-spec 1.1, "Image Index"): the architecture, empty here, is then in the configuration. */
function readDescriptor({ digest, platform }: JsonObject) {
  if (typeof digest !== "string" || !digestPattern.test(digest)) return undefined;
  if (platform === undefined) return { digest, architecture: "", os: undefined };
  if (!isJsonObject(platform)) return undefined;
  const architecture = architectureOf(platform);
  return architecture === undefined ? undefined : { digest, architecture, os: platform.os };
}

async function readArchitecture(fetch: FetchContent, repository: string, { config }: JsonObject) {
  if (!isJsonObject(config) || typeof config.digest !== "string" || !digestPattern.test(config.digest))
    return undefined;
  // OCI image-spec, "Guidelines for Artifact Usage": the configuration of what is no image has another type.
  if (
    !/^application\/vnd\.(?:oci\.image\.config\.v1|docker\.container\.image\.v1)\+json$/.test(String(config.mediaType))
  )
    return undefined;
  const read = await fetchObject(fetch, "blobs", repository, config.digest);
  if (!read) throw new ContentError(`${repository}@${config.digest} is not there`);
  return architectureOf(read);
}

/** OCI image-spec, "Platform": only for arm does the variant decide what runs. Attestations are for `unknown`. */
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
  if (!isJsonObject(value)) throw new ContentError(`${what} is no JSON object`);
  return value;
}
