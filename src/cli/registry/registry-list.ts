// Lists of a registry: OCI distribution-spec 1.1 pages them with the Link header.
import type { JsonObject } from "../../base/json.ts";
import { printable } from "../escape.ts";
import { CommandFailure } from "../failure.ts";
import type { RegistryClient } from "./registry-client.ts";

/** Returns the texts of a paged list; undefined if the list does not exist. */
export async function readList(
  client: RegistryClient,
  pageLimit: number,
  first: string,
  scope: string,
  member: string,
): Promise<string[] | undefined> {
  const found = new Set<string>();
  let path: string | undefined = first;
  for (let page = 0; path !== undefined; page++) {
    // Fails instead of returning a partial list: with --prune, a partial list would delete the rest.
    if (page === pageLimit) throw new CommandFailure(`the registry at ${client.origin} lists more than ${page} pages`);
    const reply = page === 0 ? await client.find(path, scope) : await client.get(path, scope);
    if (!reply) return undefined;
    for (const item of listOf(client, path, await client.readBody(reply), member)) found.add(item);
    path = nextPage(reply.headers.get("link"), new URL(`${client.origin}${path}`));
  }
  return [...found];
}

/** Returns the texts of one page. */
function listOf({ origin }: RegistryClient, path: string, body: Buffer, member: string): string[] {
  let answer: JsonObject | null;
  try {
    answer = JSON.parse(body.toString());
  } catch {
    throw new CommandFailure(`the registry at ${origin} answers no JSON to ${path}`);
  }
  // docker-registry 2.8 sends null if there are no tags.
  const list = answer?.[member] ?? [];
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}

/**
 * Returns the path of the next page from the Link header (RFC 8288) of the page at an address; undefined for the last
 * page. Fails if it is in another registry.
 */
export function nextPage(link: string | null, at: URL): string | undefined {
  const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link ?? "")?.[1];
  if (next === undefined) return undefined;
  const target = URL.parse(next, at);
  if (target?.origin === at.origin) return target.pathname + target.search;
  throw new CommandFailure(
    `the registry at ${at.origin} names a next page elsewhere: ${printable(next.slice(0, 200))}`,
  );
}
