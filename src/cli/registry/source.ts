// A registry to read from: OCI distribution-spec 1.1, and the catalog of CNCF Distribution.
import { hash } from "node:crypto";
import { digestPattern, type FetchContent, manifestTypes } from "../../registry-notifications/image.ts";
import { isRepositoryName } from "../../storage/registry/repository-name.ts";
import { CommandFailure } from "../failure.ts";
import { newRegistryClient, type RegistryClient } from "./registry-client.ts";
import { readList } from "./registry-list.ts";
import { catalogScope, type SignInOptions } from "./sign-in.ts";

/** A registry to read from. */
export interface Source {
  readonly origin: string;
  /** Returns the names of all repositories. */
  catalog(): Promise<string[]>;
  /** Returns the tags of a repository; undefined if it does not exist. */
  tags(repository: string): Promise<string[] | undefined>;
  /** Returns the digest of a tag; undefined if it is gone. */
  digestOf(repository: string, tag: string): Promise<string | undefined>;
  readonly content: FetchContent;
}

/** The maximum number of pages of catalog and tags, in case a registry never stops paging. */
const maxPages = 10_000;
const pageSize = 500;

/** Opens a registry. Nothing is sent until the first request. `pageLimit` is for tests. */
export function openSource(address: string, options: SignInOptions, pageLimit = maxPages): Source {
  const client = newRegistryClient(address, options);
  return {
    origin: client.origin,
    catalog: () => readCatalog(client, pageLimit),
    tags: (repository) => readTags(client, pageLimit, repository),
    digestOf: (repository, tag) => findDigest(client, repository, tag),
    content: (kind, repository, digest) => readContent(client, kind, repository, digest),
  };
}

async function readCatalog(client: RegistryClient, pageLimit: number): Promise<string[]> {
  const path = `/v2/_catalog?n=${pageSize}`;
  const names = await readList(client, pageLimit, path, catalogScope, "repositories");
  if (names) return names.filter(isRepositoryName);
  throw new CommandFailure(`the registry at ${client.origin} has no catalog`, {
    hint: "Name the repositories with --repository.",
  });
}

function readTags(client: RegistryClient, pageLimit: number, repository: string): Promise<string[] | undefined> {
  const path = `/v2/${repository}/tags/list?n=${pageSize}`;
  return readList(client, pageLimit, path, pullOf(repository), "tags");
}

async function findDigest(client: RegistryClient, repository: string, tag: string): Promise<string | undefined> {
  const path = `/v2/${repository}/manifests/${tag}`;
  const accept = manifestTypes.join(", ");
  const head = await client.find(path, pullOf(repository), { method: "HEAD", accept });
  const digest = head?.headers.get("docker-content-digest") ?? "";
  if (!head || digestPattern.test(digest)) return head && digest;
  const reply = await client.find(path, pullOf(repository), { accept });
  return reply && `sha256:${hash("sha256", await client.readBody(reply))}`;
}

async function readContent(client: RegistryClient, ...[kind, repository, reference]: Parameters<FetchContent>) {
  const path = `/v2/${repository}/${kind}/${reference}`;
  const accept = kind === "manifests" ? manifestTypes.join(", ") : "*/*";
  const reply = await client.find(path, pullOf(repository), { accept });
  return reply && (await client.readBody(reply));
}

const pullOf = (repository: string) => `repository:${repository}:pull`;
