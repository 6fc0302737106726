// The habits of every list of the console: its order, its columns.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createResource, findProblems, openConsole, signIn } from "./console.ts";

describe("the lists in the console", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer({});
    await bindRole(server, "owner", "owner");
    for (const name of ["beta", "alpha", "gamma"])
      await createResource(server, `identities/${server.groupUid}`, {
        name,
        claimMatch: { issuer: "https://issuer.example.org", subject: name },
      });
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function openList(path: string, width = 1280) {
    const console = await openConsole(browser, server, { path: `/console/o/${server.groupUid}/${path}`, width });
    await signIn(console.page, "owner");
    await console.page.locator("tr[data-key]").first().waitFor();
    return console;
  }

  const head = (page: Page, name: string) => page.getByRole("columnheader", { name });
  const names = (page: Page) => page.locator("tr[data-key] a").allTextContents();

  it("a list is sorted by the head of a column, says so aloud, and keeps the order in the address", async () => {
    await using console = await openList("workloads/");
    const { page, complaints } = console;
    assert.equal(await head(page, "Name").getAttribute("aria-sort"), "ascending");
    assert.deepEqual((await names(page)).slice(0, 3), ["alpha", "beta", "gamma"]);
    await page.getByRole("button", { name: "Name", exact: true }).click();
    await page.getByRole("status").getByText("Sorted by Name, in descending order").waitFor({ state: "attached" });
    await page.locator("tr[data-key]").first().getByText("owner").or(page.getByText("gamma")).first().waitFor();
    assert.match(page.url(), /order=name(\+|%20)desc/);
    await page.reload();
    await page.locator("tr[data-key]").first().waitFor();
    assert.equal(await head(page, "Name").getAttribute("aria-sort"), "descending");
    const shown = (await names(page)).filter((name) => ["alpha", "beta", "gamma"].includes(name));
    assert.deepEqual(shown, ["gamma", "beta", "alpha"]);
    assert.deepEqual(complaints, []);
  });

  it("the columns of a list are chosen, and this browser remembers them", async () => {
    await using console = await openList("workloads/");
    const { page, complaints } = console;
    await page.getByRole("button", { name: "Columns" }).click();
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole("menuitemcheckbox", { name: "Created" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Last seen" }).click();
    await page.keyboard.press("Escape");
    await page.reload();
    await head(page, "Created").waitFor();
    assert.equal(await head(page, "Last seen").count(), 0);
    await page.getByRole("button", { name: "Created", exact: true }).click();
    await page.locator("tr[data-key]").first().waitFor();
    assert.match(page.url(), /order=create_time(\+|%20)desc/);
    assert.deepEqual(complaints, []);
  });

  it("where there is little room, rows are cards with whole names, and the head still sorts, selects and chooses columns", async () => {
    const name = "continuous-integration-of-the-platform-engineering-team-in-central-europe";
    await createResource(server, `identities/${server.groupUid}`, {
      name,
      claimMatch: {
        issuer: "https://token.actions.githubusercontent.com",
        subject: "repo:acme/monorepo:ref:refs/heads/main",
      },
    });
    for (const width of [375, 768]) {
      await using console = await openList("workloads/", width);
      const { page, complaints } = console;
      const card = page.locator("tr[data-key]").filter({ hasText: name });
      const room = (await page.getByRole("table").boundingBox())?.width ?? 0;
      for (const one of [card.getByText(name), card.getByText(/repo:acme/)]) {
        const box = await one.boundingBox();
        assert.ok(box && box.width > room / 3, `${width}: ${JSON.stringify(box)} in ${room}`);
      }
      assert.deepEqual(await findProblems(page), [], `${width}`);
      await page.getByRole("button", { name: "Name", exact: true }).click();
      await page.waitForURL(/order=name(\+|%20)desc/);
      await page.getByRole("button", { name: "Columns" }).click();
      await page.getByRole("menuitemcheckbox", { name: "Created" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("checkbox", { name: "Select all on this page" }).check();
      await page.getByRole("region", { name: "Selection" }).waitFor();
      assert.deepEqual(complaints, []);
    }
  });

  it("the button that goes back leads to the page of a list, with its filters and its place", async () => {
    for (let number = 0; number < 120; number++)
      await createResource(server, `identities/${server.groupUid}`, {
        name: `job ${String(number).padStart(3, "0")}`,
        claimMatch: { issuer: "https://issuer.example.org", subject: `job-${number}` },
      });
    await using console = await openList("workloads/?filter=job");
    const { page, complaints } = console;
    await page.getByRole("button", { name: "Next page" }).click();
    const row = page.getByRole("link", { name: "job 090" });
    await row.scrollIntoViewIfNeeded();
    await page.waitForURL(/page=2/);
    const scrolled = Number(await page.evaluate("scrollY"));
    assert.ok(scrolled > 500, `${scrolled}`);
    await row.click();
    await page.getByRole("heading", { name: "job 090" }).waitFor();
    await page.goBack();
    await row.waitFor();
    assert.match(page.url(), /filter=job/);
    await page.waitForFunction(`Math.abs(scrollY - ${scrolled}) < 200`);
    assert.deepEqual(complaints, []);
  });
});
