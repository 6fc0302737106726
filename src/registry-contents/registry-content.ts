// Reads the content of repos for services.
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { unavailable } from "../aip/errors.ts";
import { rootOf } from "../model/uid.ts";
import { OutboundError } from "../outbound/error.ts";
import { newSlots } from "../pipeline/slots.ts";
import type { FetchContent } from "../registry-notifications/image.ts";
import type { ImageConfiguration, RegistryContent } from "../services/registry/contents/registry-content.ts";
import { registryNamesOf } from "../services/registry/repos/registry-names.ts";
import type { Database } from "../storage/database.ts";
import type { NameRules } from "../storage/registry/repository-name.ts";
import { fetchConfiguration } from "./image-configuration.ts";
import { readingLimits } from "./limits.ts";

/** How content is fetched. */
export interface ContentSources {
  /** Fetches documents of any size that an SBOM may have. */
  readonly documents: FetchContent;
  /** Fetches manifests and configurations. */
  readonly manifests: FetchContent;
}

/** Makes a reader. What has another digest counts as absent. */
export function registryContent(
  database: Pick<Database, "session">,
  { documents, manifests }: ContentSources,
  names: NameRules,
): RegistryContent {
  const { reads, readsOfOrganization, retryMs, configurationBytes: maxSize } = readingLimits;
  const limits = { all: reads, ofOrganization: readsOfOrganization };
  const takeSlot = newSlots(limits, "too much is being read from the registry at once; try again later", retryMs);
  // Configurations have secrets, and anyone may set a tag to any digest: so what is cached belongs to a repo.
  const configurations = new LRUCache<string, { readonly value: ImageConfiguration; readonly size: number }>({
    maxSize,
    sizeCalculation: ({ size }) => size,
  });

  /** Returns the first result for a name of the repo. */
  async function readFirst<T>(repoUid: string, read: (repository: string) => Promise<T | undefined>) {
    const release = takeSlot(rootOf(repoUid));
    try {
      for (const repository of await registryNamesOf(database.session, repoUid, names)) {
        const found = await reached(read(repository));
        if (found !== undefined) return found;
      }
      return undefined;
    } finally {
      release();
    }
  }

  return {
    readBlob: (repoUid, digest) =>
      readFirst(repoUid, async (repository) => {
        const bytes = await documents("blobs", repository, digest);
        return bytes && `sha256:${hash("sha256", bytes)}` === digest ? bytes : undefined;
      }),

    async readConfiguration(repoUid, digest, architecture) {
      const key = `${repoUid} ${digest} ${architecture}`;
      const known = configurations.get(key);
      if (known) return known.value;
      const found = await readFirst(repoUid, (name) => fetchConfiguration(manifests, name, digest, architecture));
      if (found) configurations.set(key, found);
      return found?.value;
    },
  };
}

async function reached<T>(fetching: Promise<T>): Promise<T> {
  try {
    return await fetching;
  } catch (error) {
    if (error instanceof OutboundError) throw unavailable("the registry cannot be read", error);
    throw error;
  }
}
