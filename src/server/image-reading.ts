// Composes what reads SBOMs: the thread that parses them, and the registry that has them.
import { readingLimits } from "../registry-contents/limits.ts";
import type { ReadingContext } from "../registry-contents/read-image.ts";
import { registryContent } from "../registry-contents/registry-content.ts";
import type { RegistrySource } from "../registry-notifications/image.ts";
import { registryLimits } from "../registry-notifications/limits.ts";
import { upstreamContent, upstreamReferrers } from "../registry-notifications/registry-client.ts";
import { sbomLimits } from "../sboms/limits.ts";
import { newSbomReader } from "../sboms/reader.ts";
import type { RegistryContent } from "../services/registry/contents/registry-content.ts";
import { limits } from "./limits.ts";
import type { ServerContext } from "./server-context.ts";
import type { ServerStorage } from "./storage.ts";
import type { ServerTokens } from "./tokens.ts";

/** The reading of SBOMs. Disposing it ends the thread. */
export interface ImageReading extends Omit<ReadingContext, "newWrite">, AsyncDisposable {
  /** Reads content for services; undefined without a registry. */
  readonly registry: RegistryContent | undefined;
}

/** Opens the reading. Nothing is contacted before the first image. */
export function openImageReading(
  { config, clock, secrets }: ServerContext,
  { database }: ServerStorage,
  { registrySigner: signer }: ServerTokens,
): ImageReading {
  const { url, group, readsContents } = config.registry;
  const names = { registryGroup: group, maxDepth: limits.groupDepth };
  const sboms = newSbomReader();
  const client = { url, credentials: secrets.registryCredentials, signer, proxies: config.proxies };
  // One byte more than a document may have: the reader rejects a larger one, and names it.
  const documents = { timeoutMs: readingLimits.documentMs, maxBytes: sbomLimits.documentBytes + 1 };
  const manifests = { timeoutMs: readingLimits.documentMs, maxBytes: registryLimits.manifestBytes };
  const hasRegistry = url !== "";
  const { responseMs: timeoutMs } = readingLimits;
  const sources = {
    documents: upstreamContent(client, { ...documents, timeoutMs }),
    manifests: upstreamContent(client, { ...manifests, timeoutMs }),
  };
  const source: RegistrySource = {
    content: (kind, ...named) => upstreamContent(client, kind === "blobs" ? documents : manifests)(kind, ...named),
    referrers: upstreamReferrers(client, manifests),
  };
  return {
    database,
    clock,
    names,
    sboms,
    source: hasRegistry && readsContents ? source : undefined,
    registry: hasRegistry ? registryContent(database, sources, names) : undefined,
    [Symbol.asyncDispose]: () => sboms[Symbol.asyncDispose](),
  };
}
