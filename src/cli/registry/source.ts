// A registry that is read: OCI distribution-spec 1.1, and the catalog of CNCF Distribution.
import { hash } from "node:crypto";
import { digestPattern, type FetchContent, manifestTypes } from "../../registry/image.ts";
import { isRepositoryName } from "../../registry/name.ts";
import { CommandFailure } from "../failure.ts";
import { printable } from "../shell.ts";
import { newRegistryClient, type RegistryClient, type RequestOptions } from "./registry-client.ts";
import type { SignInOptions } from "./sign-in.ts";

/** A registry, as far as it is read. */
export interface Source {
  /** The names of all repositories. */
  catalog(): Promise<string[]>;
  /** The tags of a repository; none when the registry does not know it any more. */
  tags(repository: string): Promise<string[]>;
  /** What a tag stands for; undefined when it is gone. */
  digestOf(repository: string, tag: string): Promise<string | undefined>;
  readonly content: FetchContent;
}

/** Of catalog and tags: a registry that pages for ever is not followed for ever. */
const maxPages = 10_000;
const pageSize = 500;

/** Opens a registry at an address; nothing is sent until something is asked. `pageLimit` is there for tests. */
export function openSource(address: string, options: SignInOptions, pageLimit = maxPages): Source {
  const client = newRegistryClient(address, options);
  return {
    catalog: () => readCatalog(client, pageLimit),
    tags: (repository) => readTags(client, pageLimit, repository),
    digestOf: (repository, tag) => findDigest(client, repository, tag),
    content: (kind, repository, digest) => readContent(client, kind, repository, digest),
  };
}

async function readCatalog(client: RegistryClient, pageLimit: number): Promise<string[]> {
  const path = `/v2/_catalog?n=${pageSize}`;
  const names = await readPages(client, pageLimit, path, "registry:catalog:*", "repositories");
  if (names) return names.filter(isRepositoryName);
  throw new CommandFailure(`the registry at ${client.origin} has no catalog`, {
    hint: "Name the repositories with --repository.",
  });
}

async function readTags(client: RegistryClient, pageLimit: number, repository: string): Promise<string[]> {
  const path = `/v2/${repository}/tags/list?n=${pageSize}`;
  return (await readPages(client, pageLimit, path, pullOf(repository), "tags")) ?? [];
}

async function findDigest(client: RegistryClient, repository: string, tag: string): Promise<string | undefined> {
  const path = `/v2/${repository}/manifests/${tag}`;
  const accept = manifestTypes.join(", ");
  const head = await find(client, path, pullOf(repository), { method: "HEAD", accept });
  const digest = head?.headers.get("docker-content-digest") ?? "";
  if (!head || digestPattern.test(digest)) return head && digest;
  const reply = await find(client, path, pullOf(repository), { accept });
  return reply && `sha256:${hash("sha256", await client.readBody(reply))}`;
}

async function readContent(client: RegistryClient, ...[kind, repository, digest]: Parameters<FetchContent>) {
  const path = `/v2/${repository}/${kind}/${digest}`;
  const accept = kind === "manifests" ? manifestTypes.join(", ") : "*/*";
  const reply = await find(client, path, pullOf(repository), { accept });
  if (!reply) throw refusal(client, path, 404);
  return await client.readBody(reply);
}

/** The texts of a list that comes in pages; undefined when there is no such list. */
async function readPages(
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
    const reply = await find(client, path, scope);
    if (!reply && page === 0) return undefined;
    if (!reply) throw refusal(client, path, 404);
    for (const item of listOf(client, path, await client.readBody(reply), member)) found.add(item);
    path = nextPage(reply.headers.get("link"), new URL(`${client.origin}${path}`));
  }
  return [...found];
}

/** The texts of one page. */
function listOf({ origin }: RegistryClient, path: string, body: Buffer, member: string): string[] {
  let answer: Readonly<Record<string, unknown>> | null;
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

/** The answer to a path; undefined when there is nothing. */
async function find(client: RegistryClient, path: string, scope: string, init?: RequestOptions) {
  const reply = await client.ask(path, scope, init);
  if (reply.ok) return reply;
  await reply.body?.cancel();
  if (reply.status === 404) return undefined;
  throw refusal(client, path, reply.status);
}

function refusal({ origin }: RegistryClient, path: string, status: number): CommandFailure {
  const hint = status === 401 || status === 403 ? "Name a user with --user, and set GATEHOUSE_REGISTRY_PASSWORD." : "";
  return new CommandFailure(`the registry at ${origin} answers ${status} to ${path}`, { hint });
}

const pullOf = (repository: string) => `repository:${repository}:pull`;
