// A registry of the outside world on a loopback port, as far as reading goes (OCI distribution-spec 1.1).
import { hash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const types = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
};

/** A registry that a test fills. */
export interface OutsideRegistry extends AsyncDisposable {
  readonly url: string;
  /** The path of each request, in order. */
  readonly requests: string[];
  /** The last Authorization header. */
  readonly authorization: () => string | undefined;
  /** Repository -> tag -> digest. */
  readonly repositories: Map<string, Map<string, string>>;
  /** Stores a document and answers its digest. */
  put(document: object | string): string;
  /** Stores an image for one architecture; its size is 100 more than that of the configuration. */
  putImage(architecture: string, salt?: string): { readonly digest: string; readonly size: number };
  /** Stores an index of images. */
  putIndex(...images: readonly { readonly digest: string; readonly platform?: object }[]): string;
  /** Sets a tag. */
  tag(repository: string, name: string, digest: string): void;
  /** Answers in the place of the registry, when it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** Starts an empty one. Catalog and tags come in pages of `pageSize`. */
export async function startOutsideRegistry(pageSize = 2): Promise<OutsideRegistry> {
  const documents = new Map<string, Buffer>();
  const repositories = new Map<string, Map<string, string>>();
  const requests: string[] = [];
  let authorization: string | undefined;

  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    authorization = request.headers.authorization;
    if (!registry.intercept(request, response)) answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? "", url);
    const last = searchParams.get("last") ?? "";
    const tags = repositories.get(/^\/v2\/(.+)\/tags\/list$/.exec(pathname)?.[1] ?? "");
    if (pathname === "/v2/_catalog") {
      const page = pageOf([...repositories.keys()], last);
      sendPage(response, pathname, { repositories: page.names }, page.next);
    } else if (tags) {
      const page = pageOf([...tags.keys()], last);
      // Some registries say null where there is no tag.
      sendPage(response, pathname, { tags: page.names.length === 0 ? null : page.names }, page.next);
    } else {
      sendDocument(pathname, request, response);
    }
  }

  function sendDocument(path: string, { method }: IncomingMessage, response: ServerResponse): void {
    const [, repository = "", reference = ""] = /^\/v2\/(.+)\/(?:manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
    const digest = repositories.get(repository)?.get(reference) ?? reference;
    const body = documents.get(digest);
    if (!body) {
      response.writeHead(404).end();
      return;
    }
    const type = (JSON.parse(body.toString()) as { mediaType?: string }).mediaType ?? "application/octet-stream";
    const headers = { "content-type": type, "content-length": body.length, "docker-content-digest": digest };
    response.writeHead(200, headers).end(method === "HEAD" ? undefined : body);
  }

  function pageOf(names: string[], last: string) {
    const rest = names.sort().filter((name) => name > last);
    const page = rest.slice(0, pageSize);
    return { names: page, next: rest.length > pageSize ? page.at(-1) : undefined };
  }

  const registry: OutsideRegistry = {
    url,
    requests,
    repositories,
    authorization: () => authorization,
    intercept: () => false,
    put(document) {
      const body = Buffer.from(typeof document === "string" ? document : JSON.stringify(document));
      const digest = `sha256:${hash("sha256", body)}`;
      documents.set(digest, body);
      return digest;
    },
    putImage(architecture, salt = "") {
      const text = JSON.stringify({ architecture, os: "linux", salt });
      const config = { mediaType: types.config, digest: registry.put(text), size: text.length };
      const layers = [60, 40].map((size) => ({ mediaType: "application/x", digest: config.digest, size }));
      const digest = registry.put({ schemaVersion: 2, mediaType: types.manifest, config, layers });
      return { digest, size: text.length + 100 };
    },
    putIndex(...images) {
      const manifests = images.map((image) => ({ mediaType: types.manifest, size: 1, ...image }));
      return registry.put({ schemaVersion: 2, mediaType: types.index, manifests });
    },
    tag(repository, name, digest) {
      if (!repositories.has(repository)) repositories.set(repository, new Map());
      repositories.get(repository)!.set(name, digest);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return registry;
}

function sendPage(response: ServerResponse, path: string, value: object, next: string | undefined): void {
  const link = next === undefined ? {} : { link: `<${path}?last=${encodeURIComponent(next)}>; rel="next"` };
  response.writeHead(200, { "content-type": "application/json", ...link }).end(JSON.stringify(value));
}
