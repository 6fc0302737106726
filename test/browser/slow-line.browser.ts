// The console on a slow line: what is painted when, and how much each first view loads.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { brotliCompressSync } from "node:zlib";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, openConsole, signIn } from "./console.ts";
import { viewPaths } from "./views.ts";

const folder = "dist/console";

/** Returns the size of a file of the console as it is sent to a browser. */
function sentBytes(file: string): number {
  try {
    return statSync(`${folder}/${file}.br`).size;
  } catch {
    return brotliCompressSync(readFileSync(`${folder}/${file}`)).length;
  }
}

describe("the console on a slow line", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let context: BrowserContext;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    await bindRole(server, "owner", "owner");
    await bindRole(server, "owner", "operator");
    const console = await openConsole(browser, server);
    context = console.page.context();
    await signIn(console.page, "owner");
    await console.page.getByRole("heading", { name: /Overview/ }).waitFor();
    await console.page.close();
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** Opens a page without a cache, which notes when it has a heading; `isSlow` for 400 kbit/s and 400 ms. */
  async function openCold(isSlow: boolean): Promise<Page> {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.enable");
    await devtools.send("Network.clearBrowserCache");
    const bytesPerSecond = (400 * 1024) / 8;
    if (isSlow)
      await devtools.send("Network.emulateNetworkConditions", {
        offline: false,
        latency: 400,
        downloadThroughput: bytesPerSecond,
        uploadThroughput: bytesPerSecond,
      });
    await page.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector("h1") === null) return;
      performance.mark("heading");
      observer.disconnect();
    }).observe(document, { subtree: true, childList: true })`);
    return page;
  }

  /** Evaluates an expression until it has a value: the policy of the page forbids what Playwright does for that. */
  async function numberOf(page: Page, expression: string): Promise<number> {
    for (;;) {
      const value = await page.evaluate(expression).catch(() => undefined);
      if (value !== undefined) return Number(value);
      await setTimeout(20);
    }
  }

  const firstPaint = (page: Page) => numberOf(page, "performance.getEntriesByName('first-paint')[0]?.startTime");

  it("paints the frame within 3 seconds, and asks for the font after the first heading", async () => {
    const page = await openCold(true);
    await page.goto(server.url, { waitUntil: "commit" });
    const paintedMs = await firstPaint(page);
    assert.ok(paintedMs <= 3000, `first paint after ${paintedMs} ms`);
    assert.equal(await page.getByText("Gatehouse").count(), 1);
    await page.getByRole("heading", { name: /Overview/ }).waitFor({ timeout: 60_000 });
    const isFont = String.raw`({ name }) => /\/font-.*\.css$|\.woff2$/.test(name)`;
    const font = await numberOf(page, `performance.getEntriesByType("resource").find(${isFont})?.startTime`);
    assert.ok(font > (await numberOf(page, "performance.getEntriesByName('heading')[0]?.startTime")));
    await page.close();
  });

  it("paints the frame within 3 seconds while the sheet of the views is held up", async () => {
    const page = await openCold(true);
    const held = Promise.withResolvers<void>();
    await page.route(/\/assets\/shell-.*\.css$/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(server.url, { waitUntil: "commit" });
    const paintedMs = await firstPaint(page);
    assert.ok(paintedMs <= 3000, `first paint after ${paintedMs} ms`);
    assert.equal(await page.locator("h1").count(), 0);
    held.resolve();
    await page.getByRole("heading", { name: /Overview/ }).waitFor({ timeout: 60_000 });
    await page.close();
  });

  it("the page has at most 2 kB, the sheet of the frame 1 kB, and that of the views 18 kB", () => {
    const html = readFileSync(`${folder}/index.html`, "utf8");
    const sheets = [...html.matchAll(/href="\/console\/(assets\/.*\.css)"/g)].map(([, file]) => file!);
    assert.ok(sentBytes("index.html") <= 2048);
    assert.equal(sheets.length, 2);
    assert.ok(sentBytes(sheets[0]!) <= 1024);
    assert.ok(html.indexOf(sheets[1]!) > html.indexOf('<div id="root">'), "it stands behind the frame");
    assert.ok(sentBytes(sheets[1]!) <= 18 * 1024);
  });

  it("each view has at most 250 kB of scripts when it is the first one", async () => {
    const tooLarge: string[] = [];
    for (const path of viewPaths(server.groupUid)) {
      const page = await openCold(false);
      await page.goto(server.url + path);
      await page.locator("#content h1").waitFor({ state: "attached" });
      // Parts of a view that are loaded once it is shown are not counted.
      const loaded = (await page.evaluate(`performance.getEntriesByType("resource")
        .filter(({ responseEnd }) => responseEnd > 0 && responseEnd <= performance.getEntriesByName("heading")[0].startTime)
        .map(({ name }) => name)`)) as string[];
      const files = loaded.flatMap((url) => /\/console\/(.+\.js)$/.exec(url)?.[1] ?? []);
      assert.ok(files.length > 10);
      const bytes = files.reduce((sum, file) => sum + sentBytes(file), 0);
      if (bytes > 250 * 1024) tooLarge.push(`${path}: ${bytes}`);
      await page.close();
    }
    assert.deepEqual(tooLarge, []);
  });
});
