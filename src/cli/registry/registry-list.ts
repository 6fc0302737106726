// Lists of a registry: OCI distribution-spec 1.1 has them in pages, by the Link header.
import type { JsonObject } from "../../base/json.ts";
import { printable } from "../escape.ts";
import { CommandFailure } from "../failure.ts";
import type { RegistryClient } from "./registry-client.ts";

/** The texts of a list that comes in pages; undefined when there is no such list. */
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
    // Whoever takes a part of a list for the whole removes what is in the rest.
    if (page === pageLimit) throw new CommandFailure(`the registry at ${client.origin} lists more than ${page} pages`);
    const reply = page === 0 ? await client.find(path, scope) : await client.get(path, scope);
    if (!reply) return undefined;
    for (const item of listOf(client, path, await client.readBody(reply), member)) found.add(item);
    path = nextPage(reply.headers.get("link"), new URL(`${client.origin}${path}`));
  }
  return [...found];
}

/** The texts of one page. */
function listOf({ origin }: RegistryClient, path: string, body: Buffer, member: string): string[] {
  let answer: JsonObject | null;
  try {
    answer = JSON.parse(body.toString());
  } catch {
    throw new CommandFailure(`the registry at ${origin} answers no JSON to ${path}`);
  }
  // docker-registry 2.8 says null where there is no tag.
  const list = answer?.[member] ?? [];
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}

/**
 * The path of the page behind the one at an address, from its Link header (RFC 8288); undefined at the end. Fails when it
 * is not in the same registry.
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
