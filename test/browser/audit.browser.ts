// The view Audit in a real browser: what changed, filters, live following, export, and who sees what.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, findProblems, openConsole, signIn } from "./console.ts";

describe("the view Audit", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let engineering = "";
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    engineering = await createGroup(server, "engineering", server.groupUid, "before");
    await describeGroup("after");
    await createGroup(server, "hostile", server.groupUid, "<img src=x onerror=alert(1)>");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const describeGroup = (description: string) =>
    rest(server.url, server.ownerToken, "PATCH", `/iam/v2beta1/groups/${engineering}`, { description });
  const address = (q = "") => `/console/o/${server.groupUid}/audit${q === "" ? "" : `?q=${encodeURIComponent(q)}`}`;

  it("shows what a change has changed, and narrows the list by a click", async () => {
    await using console = await openConsole(browser, server, { path: address(`kind:groups resource:${engineering}`) });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const entry = page.getByRole("listitem").filter({ hasText: "UpdateGroup" }).first();
    await entry.locator("summary").getByText("before").waitFor();
    await entry.locator("summary").getByText("after").waitFor();
    assert.equal(await page.getByRole("listitem").filter({ hasText: "hostile" }).count(), 0);
    await entry.locator("summary").click();
    await entry.getByRole("button", { name: "Only this actor" }).click();
    await page.waitForURL(/actor/);
    assert.deepEqual(complaints, []);
  });

  it("follows new changes", async () => {
    await using console = await openConsole(browser, server, { path: address("kind:groups") });
    await signIn(console.page, "owner");
    await console.page.getByRole("listitem").first().waitFor();
    await describeGroup("seen without a reload");
    await console.page.getByText("seen without a reload").first().waitFor();
    assert.deepEqual(console.complaints, []);
  });

  it("shows a viewer the changes of what they may list, without a denied call", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "viewer");
    await page.getByRole("listitem").filter({ hasText: "CreateGroup" }).first().waitFor();
    const entries = page.getByRole("list", { name: "Audit log" }).getByRole("listitem");
    assert.equal(await entries.filter({ hasText: "sign-in" }).count(), 0);
    assert.deepEqual(complaints, []);
  });

  it("saves what is filtered as lines of JSON and as CSV, which runs no formula", async () => {
    await using console = await openConsole(browser, server, { path: address("kind:groups") });
    const { page } = console;
    await signIn(page, "owner");
    await page.getByRole("listitem").first().waitFor();
    for (const [button, pattern] of [
      ["Export JSON lines", /^\{"id":"[0-9a-f]{32}".*\n/],
      ["Export CSV", /^time,actor,subject,method,kind,/],
    ] as const) {
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: button }).click(),
      ]);
      assert.match(readFileSync(await saved.path(), "utf8"), pattern);
    }
  });

  it("says which words of a filter have no effect, and shows hostile texts as text", async () => {
    await using console = await openConsole(browser, server, { path: address("nonsense kind:groups") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("alert").getByText("nonsense").waitFor();
    const hostile = page.getByRole("listitem").filter({ hasText: "hostile" }).first();
    await hostile.locator("summary").click();
    await hostile.getByText("<img src=x onerror=alert(1)>").waitFor();
    assert.deepEqual(complaints, []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await openConsole(browser, server, { path: address(), width, dark });
        await signIn(console.page, "owner");
        await console.page.getByRole("list", { name: "Audit log" }).locator("summary").first().click();
        assert.deepEqual(await findProblems(console.page), []);
        assert.deepEqual(console.complaints, []);
      });
});
