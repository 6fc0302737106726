// Pages of another origin call the API with real clients in a real browser.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { rolldown } from "rolldown";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { newPage, openChromium } from "./chromium.ts";
import type { callAll } from "./cors-page.ts";

describe("pages of another origin in Chromium", () => {
  let browser: Browser;
  let server: TestServer;
  let named: PageServer;
  let other: PageServer;
  before(async () => {
    const script = await bundle();
    [named, other] = [await servePage(script), await servePage(script)];
    server = await startTestServer({ settings: { corsOrigins: named.origin } });
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
    for (const each of [named, other]) each?.[Symbol.dispose]();
  });

  async function outcomesFrom({ origin }: PageServer): Promise<Record<string, string>> {
    const { page } = await newPage(browser);
    await page.goto(origin);
    const target = { url: server.url, token: server.ownerToken, groupUid: server.groupUid };
    return await page.evaluate((each) => (globalThis as unknown as { callAll: typeof callAll }).callAll(each), target);
  }

  it("pages of a named origin use REST, Connect and gRPC-web, and read errors", async () => {
    assert.deepEqual(await outcomesFrom(named), {
      rest: "seen",
      error: "16",
      connect: "example.org",
      "gRPC-web": "example.org",
      discovery: server.config.baseUrl,
    });
  });

  it("pages of other origins read only responses that need no token", async () => {
    assert.deepEqual(await outcomesFrom(other), {
      rest: "withheld",
      error: "withheld",
      connect: "withheld",
      "gRPC-web": "withheld",
      discovery: server.config.baseUrl,
    });
  });
});

interface PageServer extends Disposable {
  readonly origin: string;
}

/** Serves a page with one script, on a port of its own and so from an origin of its own. */
async function servePage(script: string): Promise<PageServer> {
  const page = `<!doctype html><meta charset="utf-8"><title>page</title><script type="module">${script}</script>`;
  const web = createServer((_request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(page);
  });
  web.listen(0, "127.0.0.1");
  await once(web, "listening");
  return {
    origin: `http://127.0.0.1:${(web.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => void web.close(),
  };
}

async function bundle(): Promise<string> {
  const input = fileURLToPath(new URL("./cors-page.ts", import.meta.url));
  await using build = await rolldown({ input, platform: "browser", logLevel: "silent" });
  const { output } = await build.generate({ format: "esm" });
  // The page ends where a script says so.
  return output[0].code.replaceAll("</script", "<\\/script");
}
