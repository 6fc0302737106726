// Composes what reads SBOMs: the threads that parse them, and the registry that has them.
import { readingLimits } from "../registry-contents/limits.ts";
import type { ReadingContext } from "../registry-contents/read-image.ts";
import { registryContent } from "../registry-contents/registry-content.ts";
import type { RegistrySource } from "../registry-notifications/image.ts";
import { registryLimits } from "../registry-notifications/limits.ts";
import { upstreamBlob, upstreamContent, upstreamReferrers } from "../registry-notifications/registry-client.ts";
import { sbomLimits } from "../sboms/limits.ts";
import { newSbomReader } from "../sboms/reader.ts";
import type { RegistryContent } from "../services/registry/contents/registry-content.ts";
import { limits } from "./limits.ts";
import type { ServerContext } from "./server-context.ts";
import type { ServerStorage } from "./storage.ts";
import type { ServerTokens } from "./tokens.ts";

/** The reading of SBOMs. Disposing it ends the threads. */
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
  const readers = { sboms: newSbomReader(), documents: newSbomReader() };
  const client = { url, credentials: secrets.registryCredentials, signer, proxies: config.proxies };
  const { responseMs, documentMs: timeoutMs } = readingLimits;
  const sources = {
    documents: upstreamContent(client, { timeoutMs: responseMs, maxBytes: sbomLimits.documentBytes }),
    manifests: upstreamContent(client, { timeoutMs: responseMs, maxBytes: registryLimits.manifestBytes }),
  };
  const manifests = { timeoutMs, maxBytes: registryLimits.manifestBytes };
  const hasRegistry = url !== "";
  const source: RegistrySource = {
    content: upstreamContent(client, manifests),
    // The reader ends at its own limit, and names it.
    blob: upstreamBlob(client, { timeoutMs, maxBytes: Number.POSITIVE_INFINITY }),
    referrers: upstreamReferrers(client, manifests),
  };
  return {
    database,
    clock,
    names,
    ...readers,
    source: hasRegistry && readsContents ? source : undefined,
    registry: hasRegistry ? registryContent(database, sources, names) : undefined,
    async [Symbol.asyncDispose]() {
      for (const reader of Object.values(readers)) await reader[Symbol.asyncDispose]();
    },
  };
}
