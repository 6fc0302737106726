// A page whose server goes away says so, keeps what was typed, and goes on by itself.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { startTestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, findProblems, openConsole, signIn } from "./console.ts";

describe("the connection of a page", { timeout: 180_000 }, () => {
  let browser: Browser;
  before(async () => {
    buildConsole();
    browser = await openChromium();
  });
  after(async () => await browser?.close());

  it("reconnects within 10 seconds, is gone within 20, and is live within 15 once the server is back", async () => {
    const first = await startTestServer();
    const { dataDir, port } = first.config;
    await bindRole(first, "owner", "owner");
    const path = `/console/o/${first.groupUid}/groups/?dialog=new`;
    await using console = await openConsole(browser, first, { path });
    const { page } = console;
    await signIn(page, "owner");
    await page.getByRole("dialog").getByLabel("Name").fill("typed before");
    const dot = page.locator("header [data-state]");
    const until = (state: string, ms: number) =>
      page.locator(`header [data-state="${state}"]`).waitFor({ timeout: ms });
    await until("live", 10_000);
    await first.server[Symbol.asyncDispose]();
    await until("reconnecting", 11_000);
    assert.match((await dot.textContent()) ?? "", /Reconnecting, \d+ s old/);
    await until("gone", 12_000);
    await page.getByText("Gatehouse does not respond").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await using again = await startTestServer({ settings: { dataDir, listen: `127.0.0.1:${port}` } });
    await until("live", 15_000);
    assert.equal(await page.getByText("Gatehouse does not respond").count(), 0);
    assert.equal(await page.getByRole("dialog").getByLabel("Name").inputValue(), "typed before");
    assert.equal(again.config.port, port);
    await first[Symbol.asyncDispose]();
  });
});
