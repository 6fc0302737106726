// Reads the content of repos for services.
import { hash } from "node:crypto";
import { unavailable } from "../aip/errors.ts";
import { OutboundError } from "../outbound/error.ts";
import type { FetchContent } from "../registry-notifications/image.ts";
import type { RegistryContent } from "../services/registry/contents/registry-content.ts";
import { registryNamesOf } from "../services/registry/repos/registry-names.ts";
import type { Database } from "../storage/database.ts";
import type { NameRules } from "../storage/registry/repository-name.ts";

/** Makes a reader. What has another digest counts as absent. */
export function registryContent(
  database: Pick<Database, "session">,
  fetch: FetchContent,
  names: NameRules,
): RegistryContent {
  return {
    async read(repoUid, kind, digest) {
      for (const repository of await registryNamesOf(database.session, repoUid, names)) {
        const bytes = await reached(fetch(kind, repository, digest));
        if (bytes && `sha256:${hash("sha256", bytes)}` === digest) return bytes;
      }
      return undefined;
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
