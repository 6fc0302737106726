// Manifests and indexes of a registry (OCI image-spec 1.1), as far as SBOMs need them. All of it is what anyone may have pushed.
import { hash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { digestPattern, type FetchContent } from "../registry-notifications/image.ts";

/** A reference to content. */
export interface Descriptor {
  readonly digest: string;
  readonly mediaType: string;
  readonly size: number;
  readonly annotations: JsonObject;
  /** The architecture with its variant; empty if it is not stated, or unknown as that of attestations. */
  readonly architecture: string;
  /** The operating system; empty if it is not stated. */
  readonly os: string;
}

/** A manifest or an index. */
export interface Manifest {
  readonly digest: string;
  readonly isIndex: boolean;
  /** The manifests of an index. */
  readonly manifests: readonly Descriptor[];
  readonly layers: readonly Descriptor[];
  /** The configuration; undefined if there is none, as in an index. */
  readonly config: Descriptor | undefined;
  /** The digest of the image that it belongs to; empty if it belongs to none. */
  readonly subject: string;
}

/** Fetches a manifest by digest or tag. Returns undefined if it is not there, or if it is not a manifest with its digest. */
export async function fetchManifest(
  fetch: FetchContent,
  repository: string,
  reference: string,
): Promise<Manifest | undefined> {
  return parseManifest(await fetch("manifests", repository, reference), reference);
}

/** Returns the manifests of an index that was not requested by digest; undefined for anything else. */
export function manifestsIn(bytes: Buffer): readonly Descriptor[] | undefined {
  return parseManifest(bytes, "")?.manifests;
}

function parseManifest(bytes: Buffer | undefined, reference: string): Manifest | undefined {
  if (!bytes) return undefined;
  const digest = `sha256:${hash("sha256", bytes)}`;
  if (digestPattern.test(reference) && reference !== digest) return undefined;
  const value = parseObject(bytes);
  if (!value) return undefined;
  return {
    digest,
    isIndex: Array.isArray(value.manifests),
    manifests: descriptorsIn(value.manifests),
    layers: descriptorsIn(value.layers),
    config: descriptorsIn([value.config])[0],
    subject: isJsonObject(value.subject) && isDigest(value.subject.digest) ? value.subject.digest : "",
  };
}

function parseObject(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function descriptorsIn(list: unknown): Descriptor[] {
  return (Array.isArray(list) ? list : []).flatMap((item) => {
    if (!isJsonObject(item) || !isDigest(item.digest)) return [];
    const { digest, mediaType, size, annotations, platform } = item;
    return [
      {
        digest,
        mediaType: typeof mediaType === "string" ? mediaType.slice(0, maxMediaType) : "",
        size: typeof size === "number" ? size : 0,
        annotations: isJsonObject(annotations) ? annotations : {},
        architecture: isJsonObject(platform) ? architectureOf(platform) : "",
        os: isJsonObject(platform) && typeof platform.os === "string" ? platform.os : "",
      },
    ];
  });
}

/** The length of a media type that is kept. */
const maxMediaType = 200;

function architectureOf({ architecture, variant }: JsonObject): string {
  if (typeof architecture !== "string" || architecture === "unknown" || !/^[a-z0-9_]{1,32}$/.test(architecture))
    return "";
  const isVariant = architecture === "arm" && typeof variant === "string" && /^v\d$/.test(variant);
  return isVariant ? `arm/${variant}` : architecture;
}

function isDigest(value: unknown): value is string {
  return typeof value === "string" && digestPattern.test(value);
}
