// The OpenAPI documents, each created with its first request.
import { createHash } from "node:crypto";
import { onceLoaded } from "../base/lazy.ts";
import type { Method } from "../pipeline/method.ts";
import { detailTypes } from "../transport/error-detail-types.ts";
import type { PageReply, Pages } from "../transport/pages/pages.ts";
import type { Api } from "./api.ts";

/** How long clients may cache a document before they revalidate it, in seconds. */
const maxAge = 300;

/**
 * Returns the methods of each document by its name: one per version, `auth` for the unversioned methods that issue
 * tokens, and `gatehouse` for what the published API lacks.
 */
function documentMethods(api: Api): Readonly<Record<string, () => readonly Method[]>> {
  const ofCurrent = (name: string) => () =>
    [...api.current.values()].filter((method) => currentDocumentOf(method) === name);
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

/** Returns a page per document: `/openapi/v2beta1.json`. */
export function openApiPages(api: Api, baseUrl: string): Pages {
  const documents = Object.entries(documentMethods(api));
  return Object.fromEntries(
    documents.map(([name, methods]) => [`/openapi/${name}.json`, onceLoaded(() => page(name, baseUrl, methods()))]),
  );
}

function currentDocumentOf({ path }: Method): string {
  if (path.startsWith("/gatehouse.")) return "gatehouse";
  return path.includes(".v2beta1.") ? "v2beta1" : "auth";
}

async function page(name: string, baseUrl: string, methods: readonly Method[]): Promise<PageReply> {
  const { documentText } = await import("../openapi/document-text.ts");
  const text = Buffer.from(documentText(name, baseUrl.replace(/\/$/, ""), methods, detailTypes));
  const etag = `"${createHash("sha256").update(text).digest("base64url")}"`;
  return { status: 200, contentType: "application/json", text, maxAge, etag };
}
