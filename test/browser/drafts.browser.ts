// What was typed into a form stays in the tab until it is sent or discarded, and closing the form asks. Secrets are not kept.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, findProblems, openConsole, signIn } from "./console.ts";

describe("drafts of forms", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    await bindRole(server, "owner", "owner");
    await bindRole(server, "viewer", "owner");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const at = (view: string) => `/console/o/${server.groupUid}/${view}`;
  const dialogOf = (page: Page) => page.getByRole("dialog");
  const stored = async (page: Page) => String(await page.evaluate("JSON.stringify(sessionStorage)"));

  it("a form that is filled asks before Escape, Cancel or the cross closes it, and an empty one does not", async () => {
    await using console = await openConsole(browser, server, { path: at("groups/?dialog=new") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const name = dialogOf(page).getByLabel("Name");
    await name.fill("half");
    await page.keyboard.press("Escape");
    await dialogOf(page).getByText("You typed something that is not saved.").waitFor();
    await dialogOf(page).getByRole("button", { name: "Keep editing" }).and(page.locator(":focus")).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press("Escape");
    await name.and(page.locator(":focus")).waitFor();
    assert.equal(await name.inputValue(), "half");
    for (const button of ["Cancel", "Close"]) {
      await dialogOf(page).getByRole("button", { name: button, exact: true }).click();
      await dialogOf(page).getByRole("button", { name: "Keep editing" }).click();
    }
    await page.keyboard.press("Escape");
    await dialogOf(page).getByRole("button", { name: "Discard and close" }).click();
    await dialogOf(page).waitFor({ state: "detached" });
    await page.keyboard.press("n");
    await dialogOf(page).waitFor();
    assert.equal(await name.inputValue(), "");
    await page.keyboard.press("Escape");
    await dialogOf(page).waitFor({ state: "detached" });
    assert.doesNotMatch(await stored(page), /half/);
    assert.deepEqual(complaints, []);
  });

  it("a filled form is back after a reload, can be discarded, and is gone once it was sent", async () => {
    await using console = await openConsole(browser, server, { path: at("groups/?dialog=new") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const name = dialogOf(page).getByLabel("Name");
    await name.fill("drafted");
    await dialogOf(page).getByLabel("Description").fill("Typed before");
    await page.reload();
    const notice = dialogOf(page).getByText("What you typed here before is back.");
    await notice.waitFor();
    assert.equal(await name.inputValue(), "drafted");
    assert.equal(await dialogOf(page).getByLabel("Description").inputValue(), "Typed before");
    assert.deepEqual(await findProblems(page), []);
    await dialogOf(page).getByRole("button", { name: "Discard", exact: true }).click();
    await notice.waitFor({ state: "detached" });
    await name.and(page.locator(":focus")).waitFor();
    assert.equal(await name.inputValue(), "");
    await name.fill("sent");
    assert.equal(await notice.count(), 0);
    await dialogOf(page).getByRole("button", { name: "Create group" }).click();
    await page.getByRole("heading", { name: "sent" }).waitFor();
    assert.doesNotMatch(await stored(page), /sent|drafted/);
    assert.deepEqual(complaints, []);
  });

  it("a restored form does not overwrite what someone else has changed since", async () => {
    const uid = await createGroup(server, "shared", server.groupUid, "first");
    await using console = await openConsole(browser, server, { path: at(`groups/${uid}?dialog=edit`) });
    const { page } = console;
    await signIn(page, "owner");
    await dialogOf(page).getByLabel("Description").fill("mine");
    const path = `/iam/v2beta1/groups/${uid}?updateMask=description`;
    assert.equal((await rest(server.url, server.ownerToken, "PATCH", path, { description: "theirs" })).status, 200);
    await page.reload();
    await dialogOf(page).getByText("What you typed here before is back.").waitFor();
    await dialogOf(page).getByRole("button", { name: "Save changes" }).click();
    await dialogOf(page).getByRole("heading", { name: "Someone else has changed this" }).waitFor();
  });

  it("a secret is not kept, but asks", async () => {
    await using console = await openConsole(browser, server, { path: at("sign-in/?dialog=new") });
    const { page } = console;
    await signIn(page, "owner");
    const secret = dialogOf(page).getByLabel("Client secret");
    await secret.fill("s3cret-value");
    await page.keyboard.press("Escape");
    await dialogOf(page).getByRole("button", { name: "Keep editing" }).click();
    await dialogOf(page).getByLabel("Name").fill("provider");
    assert.match(await stored(page), /provider/);
    assert.doesNotMatch(await stored(page), /s3cret/);
    await page.reload();
    await dialogOf(page).getByText("What you typed here before is back.").waitFor();
    assert.equal(await dialogOf(page).getByLabel("Name").inputValue(), "provider");
    assert.equal(await secret.inputValue(), "");
  });

  it("what one person typed is not there for the next one", async () => {
    await using console = await openConsole(browser, server, { path: at("groups/?dialog=new") });
    const { page } = console;
    await signIn(page, "owner");
    await dialogOf(page).getByLabel("Name").fill("private");
    await page.evaluate(
      "fetch('/oauth/session/sign-out', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })",
    );
    await page.reload();
    await page.getByRole("heading", { name: "Sign in to Gatehouse" }).waitFor();
    assert.match(await stored(page), /private/, "a session that has ended keeps it for the same person");
    await signIn(page, "viewer");
    await dialogOf(page).waitFor();
    assert.equal(await dialogOf(page).getByLabel("Name").inputValue(), "");
    assert.doesNotMatch(await stored(page), /private/);
  });
});
