// The OpenAPI documents, each created with its first request.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { onceLoaded } from "../base/lazy.ts";
import type { ServedMethod } from "../pipeline/method.ts";
import { detailTypes } from "../transport/error-detail-types.ts";
import { chooseForm, tagOf } from "../transport/pages/compressed-forms.ts";
import { type PageReply, type Pages, publicJson, text } from "../transport/pages/pages.ts";
import type { Api } from "./api.ts";

const indexPath = "/openapi/";

/** How long clients may cache a document before they revalidate it, in seconds. */
const maxAge = 300;

/**
 * Returns the methods of each document by its name: one per version, `auth` for the unversioned methods that issue
 * tokens, and `gatehouse` for what the published API lacks.
 */
function documentMethods(api: Api): Readonly<Record<string, () => readonly ServedMethod[]>> {
  const ofCurrent = (name: string) => () =>
    [...api.current.values(), ...api.streams].filter((method) => currentDocumentOf(method) === name);
  const versions = new Set(api.lazy.map(({ version }) => version));
  const ofVersion = (version: string) => () =>
    api.lazy.filter((each) => each.version === version).flatMap(({ methods }) => [...methods().values()]);
  return {
    v2beta1: ofCurrent("v2beta1"),
    auth: ofCurrent("auth"),
    gatehouse: ofCurrent("gatehouse"),
    ...Object.fromEntries([...versions].map((version) => [version, ofVersion(version)])),
  };
}

/** Returns a page per document, such as `/openapi/v2beta1.json`, one that describes gRPC, and an index of them at `/openapi/`. */
export function openApiPages(api: Api, baseUrl: string): Pages {
  const documents = Object.entries(documentMethods(api));
  const serverUrl = baseUrl.replace(/\/$/, "");
  const pageOf = ([name, methods]: (typeof documents)[number]) =>
    lazyPage(({ documentText }) => documentText(name, serverUrl, methods(), detailTypes));
  const all = () => documents.map(([name, methods]) => ({ name, methods: methods() }));
  return {
    ...Object.fromEntries(documents.map((each) => [addressOf(each[0]), pageOf(each)])),
    [addressOf("grpc")]: lazyPage(({ grpcText }) => grpcText(all())),
    [indexPath]: ({ url }) => (url === indexPath ? index(documents.map(([name]) => name)) : text(404, "Not Found")),
  };
}

/** Lists the documents. */
function index(names: readonly string[]): PageReply {
  return publicJson({ documents: names.map((name) => ({ name, path: addressOf(name) })), grpc: addressOf("grpc") });
}

function addressOf(name: string): string {
  return `${indexPath}${name}.json`;
}

function currentDocumentOf({ path }: ServedMethod): string {
  if (path.startsWith("/gatehouse.")) return "gatehouse";
  return path.includes(".v2beta1.") ? "v2beta1" : "auth";
}

/** Returns a page that is made by its first request. */
function lazyPage(make: (texts: typeof import("../openapi/document-text.ts")) => string): Pages[string] {
  const load = onceLoaded(async () => {
    const plain = Buffer.from(make(await import("../openapi/document-text.ts")));
    const digest = createHash("sha256").update(plain).digest("base64url");
    const { gzip } = await import("node:zlib");
    return { plain, gzip: await promisify(gzip)(plain), digest };
  });
  return async ({ headers }) => {
    const { digest, ...forms } = await load();
    const [content, encoding] = chooseForm(forms, String(headers["accept-encoding"] ?? ""));
    return {
      status: 200,
      contentType: "application/json",
      text: content,
      maxAge,
      etag: tagOf(digest, encoding),
      headers: { vary: "Accept-Encoding", ...(encoding !== "" && { "content-encoding": encoding }) },
    };
  };
}
