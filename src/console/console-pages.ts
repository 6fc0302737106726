// The console: its page, which all its addresses have, and the files that the page loads (docs/decisions/0071). The API reference is
// another page, and the guides are pages without a script (docs/decisions/0075).
import { existsSync } from "node:fs";
import path from "node:path";
import { programFile } from "../base/program-file.ts";
import { type HttpRequest, requestTarget } from "../transport/http/message.ts";
import { chooseForm, tagOf } from "../transport/pages/compressed-forms.ts";
import { hostOf, isLocalName, type PageReply, type Pages, seeOther, text } from "../transport/pages/pages.ts";
import type { Asset, Assets } from "./assets.ts";
import { pageHeaders } from "./page-headers.ts";

/** The path of the console's pages. */
export const consolePath = "/console/";

/** The path of the guides' pages. */
const guidesPath = "/docs/";

/** The address of the API reference, and the beginning of the addresses of services, methods and types in it. */
export const referencePath = "/docs/api";

/** The folder of the guides in that of the console. */
const guidesFolder = "docs";

/** Options of the console. */
export interface ConsoleOptions {
  /** The folder of its files. */
  readonly folder: string;
  readonly baseUrl: string;
  /** Whether a browser on another loopback name is redirected to that of the base URL. */
  readonly dev: boolean;
}

/** Returns the folder of the files: that of the program, or where `npm ci` puts them in a clone. */
export function consoleFolder(): string {
  const own = programFile("console");
  return existsSync(`${own}/index.html`) ? own : programFile("../dist/console");
}

const headers = { ...pageHeaders(), vary: "Accept-Encoding" };

const immutable = "public, max-age=31536000, immutable";

/** Returns the first page of a server without a console. */
export function apiPages(): Pages {
  return { "/": () => apiPage() };
}

/** Returns the pages of the console, of the API reference and of the guides, and the first page of the server. */
export function consolePages(options: ConsoleOptions): Pages {
  const console = assetLoader(options.folder, guidesFolder);
  const guides = assetLoader(path.join(options.folder, guidesFolder));
  const reference: Pages[string] = async (request) =>
    otherName(options, request) ?? page(await console(), request, "reference.html");
  return {
    "/": (request) => firstPage(request),
    "/console": () => seeOther(consolePath),
    [consolePath]: async (request) =>
      otherName(options, request) ?? page(await console(), request, consoleFile(pathBelow(request, consolePath))),
    "/docs": () => seeOther(guidesPath),
    [referencePath]: reference,
    [`${referencePath}/`]: reference,
    [guidesPath]: async (request) => {
      const assets = await guides();
      return page(assets, request, guideFile(assets, pathBelow(request, guidesPath)));
    },
  };
}

/** Returns a function that reads the files on first use; again, until the console is built. */
function assetLoader(folder: string, except?: string): () => Promise<Assets | undefined> {
  let assets: Assets | undefined;
  return async () => {
    const { readAssets } = await import("./assets.ts");
    assets ??= await readAssets(folder, except);
    return assets;
  };
}

/** Sends browsers to the console. Tells other clients where the API is. */
function firstPage(request: HttpRequest): PageReply {
  const isBrowser = (request.headers.accept ?? "").includes("text/html");
  if (isBrowser) return seeOther(consolePath, { vary: "Accept" });
  return { ...apiPage({ docs: guidesPath }), headers: { vary: "Accept" } };
}

/** Returns the page that tells a client where everything is, in one line of JSON. */
function apiPage(further: Readonly<Record<string, string>> = {}): PageReply {
  const body = { api: "/iam/v2beta1/", reference: "/openapi/", ...further, health: "/healthz", ready: "/readyz" };
  return { status: 200, contentType: "application/json", text: `${JSON.stringify(body)}\n` };
}

/** The origin of the session is that of the base URL. */
function otherName({ dev, baseUrl }: ConsoleOptions, request: HttpRequest): PageReply | undefined {
  const host = hostOf(request);
  if (!dev || host === new URL(baseUrl).host || !isLocalName(host)) return undefined;
  return seeOther(baseUrl + request.url);
}

function pathBelow(request: HttpRequest, prefix: string): string {
  return requestTarget(request).path.slice(prefix.length);
}

/** An address without a file extension is a page, whose view the script chooses. */
function consoleFile(name: string): string {
  return /\.[a-z0-9]+$/i.test(name) ? name : "index.html";
}

/** `operate/deploy` is a page, and `decisions/` the first page of a folder. */
function guideFile(assets: Assets | undefined, name: string): string {
  const candidates = [name, `${name}.html`, `${name}${name === "" || name.endsWith("/") ? "" : "/"}index.html`];
  return candidates.find((each) => assets?.has(each)) ?? name;
}

function page(assets: Assets | undefined, request: HttpRequest, file: string): PageReply {
  if (!assets) return text(503, "The console is not built. Run: npm run build:console");
  const asset = assets.get(file);
  return asset ? assetPage(asset, request) : { ...text(404, "Not Found"), headers };
}

function assetPage(asset: Asset, request: HttpRequest): PageReply {
  const [content, encoding] = chooseForm(asset, String(request.headers["accept-encoding"] ?? ""));
  return {
    status: 200,
    contentType: asset.contentType,
    text: content,
    etag: tagOf(asset.digest, encoding),
    headers: {
      ...headers,
      "cache-control": asset.isHashed ? immutable : "no-cache",
      ...(encoding !== "" && { "content-encoding": encoding }),
    },
  };
}
