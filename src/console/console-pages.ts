// The console: its page, which all its addresses have, and the files that the page loads (docs/decisions/0071).
import { existsSync } from "node:fs";
import { programFile } from "../base/program-file.ts";
import { type HttpRequest, requestTarget } from "../transport/http/message.ts";
import { hostOf, isLocalName, type PageReply, type Pages, seeOther, text } from "../transport/pages/pages.ts";
import type { Asset, Assets } from "./assets.ts";

/** Where the console has its pages. */
export const consolePath = "/console/";

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

const policy = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:", "font-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join("; ");

const headers = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  vary: "Accept-Encoding",
};

const immutable = "public, max-age=31536000, immutable";

/** Returns the first page of a server without a console. */
export function apiPages(): Pages {
  return { "/": apiPage };
}

/** Returns the pages of the console, and the first page of the server. */
export function consolePages(options: ConsoleOptions): Pages {
  let assets: Assets | undefined;
  const load = async () => {
    const { readAssets } = await import("./assets.ts");
    // Read again until the console is built.
    assets ??= await readAssets(options.folder);
    return assets;
  };
  return {
    "/": (request) => firstPage(request),
    "/console": () => seeOther(consolePath),
    [consolePath]: async (request) => otherName(options, request) ?? page(await load(), request),
  };
}

/** Sends browsers to the console. Tells other clients where the API is. */
function firstPage(request: HttpRequest): PageReply {
  const isBrowser = (request.headers.accept ?? "").includes("text/html");
  return isBrowser ? seeOther(consolePath, { vary: "Accept" }) : { ...apiPage(), headers: { vary: "Accept" } };
}

/** Returns the page that tells a client where everything is, in one line of JSON. */
function apiPage(): PageReply {
  const body = { api: "/iam/v2beta1/", reference: "/openapi/v2beta1.json", health: "/healthz", ready: "/readyz" };
  return { status: 200, contentType: "application/json", text: `${JSON.stringify(body)}\n` };
}

/** The origin of the session is that of the base URL. */
function otherName({ dev, baseUrl }: ConsoleOptions, request: HttpRequest): PageReply | undefined {
  const host = hostOf(request);
  if (!dev || host === new URL(baseUrl).host || !isLocalName(host)) return undefined;
  return seeOther(baseUrl + request.url);
}

function page(assets: Assets | undefined, request: HttpRequest): PageReply {
  if (!assets) return text(503, "The console is not built. Run: npm run build:console");
  const name = requestTarget(request).path.slice(consolePath.length);
  // An address without a file extension is a page, whose view the script chooses.
  const isPage = !/\.[a-z0-9]+$/i.test(name);
  const asset = assets.get(isPage ? "index.html" : name);
  return asset ? assetPage(asset, request) : { ...text(404, "Not Found"), headers };
}

function assetPage(asset: Asset, request: HttpRequest): PageReply {
  const [content, encoding] = chooseForm(asset, String(request.headers["accept-encoding"] ?? ""));
  return {
    status: 200,
    contentType: asset.contentType,
    text: content,
    // RFC 9110 §8.8.3.3: each form has its own tag.
    etag: `"${asset.digest}${encoding === "" ? "" : `-${encoding}`}"`,
    headers: {
      ...headers,
      "cache-control": asset.isHashed ? immutable : "no-cache",
      ...(encoding !== "" && { "content-encoding": encoding }),
    },
  };
}

function chooseForm({ plain, br, gzip }: Asset, accepted: string): [Buffer, string] {
  const accepts = (name: string) =>
    new RegExp(`(^|,)\\s*${name}\\s*(;\\s*q=(0\\.\\d*[1-9]|1)[^,]*)?(,|$)`).test(accepted);
  if (br && accepts("br")) return [br, "br"];
  if (gzip && accepts("gzip")) return [gzip, "gzip"];
  return [plain, ""];
}
