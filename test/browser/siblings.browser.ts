// A form that creates something with the name of a sibling asks first.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, openConsole, signIn } from "./console.ts";

describe("a second sibling with one name", { timeout: 120_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let parent: string;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    await bindRole(server, "owner", "owner");
    parent = await createGroup(server, "engineering", server.groupUid);
    await createGroup(server, "twin", parent);
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  it("a sibling of the same name is created after a second click only, and another name needs none", async () => {
    const path = `/console/o/${server.groupUid}/groups/${parent}`;
    await using console = await openConsole(browser, server, { path });
    const { page } = console;
    await signIn(page, "owner");
    const newGroup = page.getByRole("button", { name: "New group" });
    await newGroup.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("twin");
    await dialog.getByRole("button", { name: "Create group" }).click();
    await dialog.getByText("There is another one called twin here.").waitFor();
    await dialog.getByLabel("Name").fill("single");
    await dialog.getByRole("button", { name: "Create it anyway" }).click();
    await page.getByRole("heading", { name: "single", level: 2 }).waitFor();
    await page.goto(new URL(path, page.url()).href);
    await newGroup.click();
    await dialog.getByLabel("Name").fill("twin");
    await dialog.getByRole("button", { name: "Create group" }).click();
    await dialog.getByRole("button", { name: "Create it anyway" }).click();
    await page.getByRole("heading", { name: "twin", level: 2 }).waitFor();
    assert.equal(await dialog.count(), 0);
  });
});
