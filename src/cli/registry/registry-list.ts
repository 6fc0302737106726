// Lists of a registry: OCI distribution-spec 1.1 pages them with the Link header.
import type { JsonObject } from "../../base/json.ts";
import { nextPage } from "../../base/link-header.ts";
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
    path = pathOfNext(client, reply.headers.get("link"), path);
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

/** Returns the path of the page after the one at a path; undefined for the last page. Fails if it is in another registry. */
function pathOfNext({ origin }: RegistryClient, link: string | null, path: string): string | undefined {
  const next = nextPage(link, new URL(`${origin}${path}`));
  if (next === "elsewhere")
    throw new CommandFailure(
      `the registry at ${origin} names a next page elsewhere: ${printable(link!.slice(0, 200))}`,
    );
  return next && next.pathname + next.search;
}
