// Nothing in a readme that the server accepts runs in a real browser, whichever program has made HTML of it (security case F10).
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import MarkdownIt from "markdown-it";
import footnotes from "markdown-it-footnote";
import { Marked } from "marked";
import type { Browser, Page } from "playwright-core";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { goodReadmes, hostileReadmes } from "../services/registry/readme-texts.ts";
import { openChromium } from "./chromium.ts";

/** Renderers that let all HTML and every address through. */
const renderers: Readonly<Record<string, (text: string) => string>> = {
  "markdown-it": markdownIt("default"),
  "markdown-it with footnotes": markdownIt("default", true),
  "markdown-it, CommonMark only": markdownIt("commonmark"),
  marked: (text) => new Marked().parse(text) as string,
  "marked, CommonMark only": (text) => new Marked({ gfm: false }).parse(text) as string,
};

function markdownIt(preset: "default" | "commonmark", withFootnotes = false): (text: string) => string {
  const renderer = new MarkdownIt(preset, { html: true, linkify: preset === "default" });
  renderer.validateLink = () => true;
  if (withFootnotes) renderer.use(footnotes as never);
  return (text) => renderer.render(text);
}

describe("a readme in a browser", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let page: Page;
  let readme: string;
  before(async () => {
    browser = await openChromium();
    server = await startTestServer();
    const repo = { name: "hostile" };
    const { body } = await rest(
      server.url,
      server.ownerToken,
      "POST",
      `/registry/v2beta1/repos/${server.groupUid}`,
      repo,
    );
    readme = `/registry/v2beta1/repos/${encodeURIComponent(body.uid)}/readme`;
    page = await openStage(browser);
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** Returns the content that the server serves after it was asked to store the text; undefined when it refused. */
  async function stored(content: string): Promise<string | undefined> {
    const { status } = await rest(server.url, server.ownerToken, "PATCH", readme, { content });
    if (status === 200) return (await rest(server.url, server.ownerToken, "GET", readme)).body.content ?? "";
    assert.equal(status, 400, content);
    return undefined;
  }

  it("an ordinary readme is accepted, and runs no script", async () => {
    for (const [what, text] of Object.entries(goodReadmes)) {
      assert.equal(await stored(text), text, what);
      assert.deepEqual(await runningIn(page, [text]), [], what);
    }
  });

  it("an accepted readme runs no script", async () => {
    const accepted: string[] = [];
    for (const text of hostileReadmes) {
      const content = await stored(text);
      if (content !== undefined) accepted.push(content);
    }
    assert.ok(accepted.length < hostileReadmes.length / 4, `${accepted.length} of ${hostileReadmes.length}`);
    assert.deepEqual(await runningIn(page, accepted), []);
  });

  it("readmes that the server rejects would run scripts", async () => {
    const sample = hostileReadmes.filter((_, i) => i % 32 === 0);
    const running = await runningIn(page, sample);
    assert.ok(running.length > sample.length / 2, `${running.length} of ${sample.length}`);
  });
});

/** Returns a page without a network, in which `alert` tells the outermost window that something has run. */
async function openStage(browser: Browser): Promise<Page> {
  const context = await browser.newContext();
  await context.route("**/*", (route) => route.abort());
  await context.addInitScript({ content: "globalThis.alert = () => { top.hasRun = true; };" });
  const page = await context.newPage();
  await page.addScriptTag({ path: path.join(import.meta.dirname, "show.js") });
  return page;
}

/** Returns the texts, each with the name of a renderer, in which something runs when they are shown, pointed at and clicked. */
async function runningIn(page: Page, texts: readonly string[]): Promise<string[]> {
  const running: string[] = [];
  for (const text of texts) {
    const documents = new Map(Object.entries(renderers).map(([name, render]) => [render(text), name]));
    for (const [html, name] of documents) {
      if (await page.evaluate(`runs(${JSON.stringify(html)})`)) running.push(`${name}: ${text}`);
    }
  }
  return running;
}
