// Reads the configuration of an image from a registry (OCI image-spec 1.1). Anyone who may push decides what is in it.
import { hash } from "node:crypto";
import { failedPrecondition } from "../aip/errors.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import type { FetchContent } from "../registry-notifications/image.ts";
import { registryLimits } from "../registry-notifications/limits.ts";
import type { ImageConfiguration } from "../services/registry/contents/registry-content.ts";
import { fetchManifest, type Manifest } from "./manifest.ts";

/** A configuration, and the size of its document in bytes. */
export interface FetchedConfiguration {
  readonly value: ImageConfiguration;
  readonly size: number;
}

/** The media types of configurations of images. Those of other artifacts are something else ("Guidelines for Artifact Usage"). */
const configurationTypes = /^application\/vnd\.(?:oci\.image\.config\.v1|docker\.container\.image\.v1)\+json$/;

/**
 * Fetches the configuration of a manifest, or of that of an index for an architecture. Returns undefined if the registry does not have
 * it. Throws FAILED_PRECONDITION if it cannot be read.
 */
export async function fetchConfiguration(
  fetch: FetchContent,
  repository: string,
  digest: string,
  architecture: string,
): Promise<FetchedConfiguration | undefined> {
  const named = await fetchManifest(fetch, repository, digest);
  const manifest = named?.isIndex ? await platformOf(fetch, repository, named, architecture) : named;
  if (!manifest) return undefined;
  const { config } = manifest;
  if (!config || !configurationTypes.test(config.mediaType))
    throw unreadable("the manifest is not one of an image", digest);
  if (config.size > registryLimits.manifestBytes) throw unreadable("the configuration has more than 4 MiB", digest);
  const bytes = await fetch("blobs", repository, config.digest);
  if (!bytes || `sha256:${hash("sha256", bytes)}` !== config.digest) return undefined;
  return { value: parse(bytes, digest), size: bytes.length };
}

/** If two manifests differ only in the operating system, the architecture means the one for Linux. */
async function platformOf(fetch: FetchContent, repository: string, index: Manifest, architecture: string) {
  const named = index.manifests.filter((each) => each.architecture === architecture);
  const platform = named.find(({ os }) => os === "linux") ?? named[0];
  return platform && (await fetchManifest(fetch, repository, platform.digest));
}

function parse(bytes: Buffer, digest: string): ImageConfiguration {
  let document: unknown;
  try {
    document = JSON.parse(bytes.toString());
  } catch {
    document = undefined;
  }
  if (!isJsonObject(document)) throw unreadable("the configuration is not a JSON object", digest);
  return configurationOf(isJsonObject(document.config) ? document.config : {});
}

/** Values of other types than the specification has are left out. */
function configurationOf(config: JsonObject): ImageConfiguration {
  return {
    user: textOf(config.User),
    exposedPorts: namesIn(config.ExposedPorts),
    env: textsIn(config.Env),
    entrypoint: textsIn(config.Entrypoint),
    cmd: textsIn(config.Cmd),
    volumes: namesIn(config.Volumes),
    workingDir: textOf(config.WorkingDir),
    labels: new Map(membersOf(config.Labels).flatMap(([name, value]) => (isText(value) ? [[name, value]] : []))),
    stopSignal: textOf(config.StopSignal),
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function textOf(value: unknown): string {
  return isText(value) ? value : "";
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(isText) : [];
}

function membersOf(value: unknown): [string, unknown][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

function namesIn(value: unknown): string[] {
  return membersOf(value).map(([name]) => name);
}

function unreadable(description: string, digest: string) {
  return failedPrecondition("IMAGE_CONFIG_UNREADABLE", description, digest);
}
