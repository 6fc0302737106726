// A registry that is read: OCI distribution-spec 1.1, and the catalog of CNCF Distribution.
import { hash } from "node:crypto";
import { digestPattern, type FetchContent, manifestTypes } from "../../registry/image.ts";
import { isRepositoryName } from "../../registry/name.ts";
import { CommandFailure } from "../failure.ts";
import { printable } from "../shell.ts";
import { answerChallenge, type SignInOptions } from "./sign-in.ts";

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

const requestTimeoutMs = 60_000;
const maxDocumentBytes = 4 * 1024 * 1024;
/** Of catalog and tags: a registry that pages for ever is not followed for ever. */
const maxPages = 10_000;
const pageSize = 500;

/** Opens a registry at an address; nothing is sent until something is asked. `pageLimit` is there for tests. */
export function openSource(address: string, options: SignInOptions, pageLimit = maxPages): Source {
  const url = URL.parse(address);
  if ((url?.protocol !== "https:" && url?.protocol !== "http:") || url.pathname !== "/" || url.search || url.hash)
    throw new CommandFailure(
      `${JSON.stringify(address)} is no address of a registry such as https://registry.example.com`,
      {
        exitCode: 2,
      },
    );
  const { origin } = url;
  const tokens = new Map<string, Promise<string | undefined>>();

  /** Asks once without a token, and again with one when the registry wants it. */
  async function ask(path: string, scope: string, init: { method?: string; accept?: string } = {}): Promise<Response> {
    const known = await tokens.get(scope);
    const reply = await send(path, init, known);
    if (reply.status !== 401) return reply;
    await reply.body?.cancel();
    // Whoever asks at the same time waits for the same token; one that has expired is replaced.
    const current = tokens.get(scope);
    if (current === undefined || (await current) === known) {
      tokens.set(scope, answerChallenge(reply.headers.get("www-authenticate") ?? "", scope, options));
    }
    return await send(path, init, await tokens.get(scope));
  }

  function send(
    path: string,
    { method = "GET", accept = "*/*" }: { method?: string; accept?: string },
    token?: string,
  ) {
    const headers = { accept, "user-agent": "gatehouse", ...(token !== undefined && { authorization: token }) };
    // Layers and configurations may lie elsewhere; fetch sends no credentials to another origin.
    const signal = AbortSignal.timeout(requestTimeoutMs);
    return fetch(`${origin}${path}`, { method, headers, signal }).catch((cause: unknown) => {
      throw new CommandFailure(`the registry at ${origin} does not answer (${causeOf(cause)})`);
    });
  }

  async function pages(first: string, scope: string, member: string): Promise<string[] | undefined> {
    const found: string[] = [];
    let path: string | undefined = first;
    for (let page = 0; path !== undefined; page++) {
      // Whoever takes a part of a list for the whole removes what is in the rest.
      if (page === pageLimit) throw new CommandFailure(`the registry at ${origin} lists more than ${page} pages`);
      const reply = await ask(path, scope);
      if (reply.status === 404 && page === 0) return undefined;
      if (!reply.ok) throw refused(path, reply.status);
      const answer = JSON.parse((await readBody(reply)).toString()) as Record<string, unknown>;
      // docker-registry 2.8 says null where there is no tag.
      const list: unknown = answer[member] ?? [];
      if (Array.isArray(list)) found.push(...list.filter((item) => typeof item === "string"));
      path = nextPage(reply.headers.get("link"), path);
    }
    return [...new Set(found)];
  }

  /** RFC 8288; the address of the next page must lie in the same registry. */
  function nextPage(link: string | null, path: string): string | undefined {
    const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link ?? "")?.[1];
    if (next === undefined) return undefined;
    const target = URL.parse(next, `${origin}${path}`);
    if (target?.origin === origin) return target.pathname + target.search;
    throw new CommandFailure(`the registry at ${origin} names a next page elsewhere: ${printable(next.slice(0, 200))}`);
  }

  function refused(path: string, status: number): CommandFailure {
    const hint =
      status === 401 || status === 403 ? "Name a user with --user, and set GATEHOUSE_REGISTRY_PASSWORD." : "";
    return new CommandFailure(`the registry at ${origin} answers ${status} to ${path}`, { hint });
  }

  const pullOf = (repository: string) => `repository:${repository}:pull`;
  return {
    async catalog() {
      const names = await pages(`/v2/_catalog?n=${pageSize}`, "registry:catalog:*", "repositories");
      if (!names)
        throw new CommandFailure(`the registry at ${origin} has no catalog`, {
          hint: "Name the repositories with --repository.",
        });
      return names.filter(isRepositoryName);
    },
    async tags(repository) {
      return (await pages(`/v2/${repository}/tags/list?n=${pageSize}`, pullOf(repository), "tags")) ?? [];
    },
    async digestOf(repository, tag) {
      const path = `/v2/${repository}/manifests/${tag}`;
      const accept = manifestTypes.join(", ");
      const head = await ask(path, pullOf(repository), { method: "HEAD", accept });
      if (head.status === 404) return undefined;
      if (!head.ok) throw refused(path, head.status);
      const digest = head.headers.get("docker-content-digest") ?? "";
      if (digestPattern.test(digest)) return digest;
      const reply = await ask(path, pullOf(repository), { accept });
      if (reply.status === 404) return undefined;
      if (!reply.ok) throw refused(path, reply.status);
      return `sha256:${hash("sha256", await readBody(reply))}`;
    },
    async content(kind, repository, digest) {
      const path = `/v2/${repository}/${kind}/${digest}`;
      const accept = kind === "manifests" ? manifestTypes.join(", ") : "*/*";
      const reply = await ask(path, pullOf(repository), { accept });
      if (!reply.ok) throw refused(path, reply.status);
      return await readBody(reply);
    },
  };
}

async function readBody(reply: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of reply.body ?? []) {
    size += chunk.length;
    if (size > maxDocumentBytes) throw new CommandFailure(`${reply.url} is longer than ${maxDocumentBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? ("code" in cause ? String(cause.code) : cause.message) : String(cause);
}
