// A view whose code cannot be loaded says so in its place: offline, and after an upgrade that has other files.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, findProblems, openConsole, signIn } from "./console.ts";

describe("parts of the console that cannot be loaded", { timeout: 180_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    await bindRole(server, "owner", "owner");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const at = (view: string) => `/console/o/${server.groupUid}/${view}`;
  const openView = (page: Page, name: string) => page.getByRole("navigation").getByRole("link", { name }).click();
  const filesOfAudit = /\/assets\/audit-.*\.(?:js|css)$/;

  it("offline, the frame stays, the place of the view says so, and it opens once the server responds", async () => {
    await using console = await openConsole(browser, server, { path: at("overview") });
    const { page } = console;
    await page.route(filesOfAudit, (route) => route.abort());
    await signIn(page, "owner");
    await page.getByRole("heading", { name: /Overview/ }).waitFor();
    await page.locator('header [data-state="live"]').waitFor();
    await page.context().setOffline(true);
    await openView(page, "Audit log");
    const notice = page.getByRole("alert").filter({ hasText: "This part is not loaded yet." });
    await notice.waitFor();
    assert.match(page.url(), /\/audit\/?$/);
    await page.getByRole("navigation").getByRole("link", { name: "Groups" }).waitFor();
    await notice.getByRole("button", { name: "Try again" }).click();
    await notice.waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.unroute(filesOfAudit);
    await page.context().setOffline(false);
    await page.getByRole("heading", { name: "Audit log", level: 1 }).waitFor();
    // Its style sheet, too, was loaded again.
    const sheets = await page.evaluate("[...document.styleSheets].map(({ href }) => href).join(' ')");
    assert.match(String(sheets), /audit-/);
  });

  it("a file that fails once is loaded by another attempt, without a reload", async () => {
    await using console = await openConsole(browser, server, { path: at("overview") });
    const { page } = console;
    await page.route(filesOfAudit, (route) => route.fulfill({ status: 502, body: "" }));
    await signIn(page, "owner");
    await page.getByRole("heading", { name: /Overview/ }).waitFor();
    await page.evaluate("window.isSamePage = true");
    await openView(page, "Audit log");
    await page.getByText("This part could not be loaded.").waitFor();
    await page.unroute(filesOfAudit);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Audit log", level: 1 }).waitFor();
    assert.equal(await page.evaluate("window.isSamePage"), true);
  });

  it("a view opens by itself if the server is back by the time that the cause is looked for", async () => {
    await using console = await openConsole(browser, server, { path: at("overview") });
    const { page } = console;
    let isDown = true;
    await page.route(filesOfAudit, (route) => (isDown ? route.abort() : route.continue()));
    await page.route(
      (url) => /\/audit\/?$/.test(url.pathname),
      async (route) => {
        isDown = false;
        await route.continue();
      },
    );
    await signIn(page, "owner");
    await page.getByRole("heading", { name: /Overview/ }).waitFor();
    await openView(page, "Audit log");
    await page.getByRole("heading", { name: "Audit log", level: 1 }).waitFor();
  });

  it("after an upgrade a reload is offered, and a filled form is there afterwards", async () => {
    await using console = await openConsole(browser, server, { path: at("groups/?dialog=new") });
    const { page } = console;
    await page.route(filesOfAudit, (route) => route.fulfill({ status: 404, body: "" }));
    await signIn(page, "owner");
    await page.getByRole("dialog").getByLabel("Name").fill("typed before");
    await page.goBack();
    await page.goto(server.url + at("groups/"));
    await page.getByRole("treeitem").first().waitFor();
    // The page of the newer version names another script.
    const newer = async () => {
      const html = await (await fetch(server.url + at("audit/"))).text();
      return html.replaceAll("/assets/index-", "/assets/newer-");
    };
    await page.route(
      (url) => /\/audit\/?$/.test(url.pathname),
      async (route) => {
        if (route.request().resourceType() !== "fetch") return await route.continue();
        await route.fulfill({ contentType: "text/html", body: await newer() });
      },
    );
    await openView(page, "Audit log");
    const notice = page.getByRole("alert").filter({ hasText: "Gatehouse was updated" });
    await notice.waitFor();
    assert.equal(await notice.getByRole("button", { name: "Try again" }).count(), 0);
    await page.unrouteAll();
    await notice.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { name: "Audit log", level: 1 }).waitFor();
    await openView(page, "Groups");
    await page.getByRole("treeitem").first().waitFor();
    await page.keyboard.press("n");
    await page.getByText("What you typed here before is back.").waitFor();
    assert.equal(await page.getByRole("dialog").getByLabel("Name").inputValue(), "typed before");
  });
});
