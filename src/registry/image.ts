// What a manifest says of an image: the architectures that it is for, and how large it is for each.
import { hash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../json.ts";

/** An image as far as one architecture is concerned. */
export interface ImagePlatform {
  /** As images name it (`amd64`, `arm64`, `arm/v7`). */
  readonly architecture: string;
  /** Of the layers and the configuration, in bytes. */
  readonly size: number;
}

/** Gets what a registry stores under a digest. */
export type FetchContent = (kind: "manifests" | "blobs", repository: string, digest: string) => Promise<Buffer>;

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

/** A registry that answered something else than what was asked for. */
class ContentError extends Error {
  override readonly name = "ContentError";
}

/**
 * Finds out what there is of an image; empty for what is no image, such as a signature or a chart.
 *
 * Everything is checked against its digest, so that a registry can leave something out but not make it up.
 */
export async function describeImage(fetch: FetchContent, repository: string, digest: string): Promise<ImagePlatform[]> {
  const manifest = await fetchObject(fetch, "manifests", repository, digest);
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
    const size = sizeOf(await fetchObject(fetch, "manifests", repository, child.digest));
    if (size !== undefined) found.set(child.architecture, { architecture: child.architecture, size });
  }
  return [...found.values()];
}

function readDescriptor({ digest, platform }: JsonObject) {
  if (typeof digest !== "string" || !digestPattern.test(digest) || !isJsonObject(platform)) return undefined;
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
  return architectureOf(await fetchObject(fetch, "blobs", repository, config.digest));
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
