// The console in a real browser: sessions, groups by mouse and by keyboard, roles, accessibility, hostile names.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { signInLimits } from "../../src/sign-in/limits.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, complaintsOf, createGroup, findProblems, openConsole, signIn } from "./console.ts";
import { untilQuiet } from "./quiet.ts";

describe("the console", { timeout: 900_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let aheadMs = 0;
  let engineering = "";
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer({ clock: () => Date.now() + aheadMs });
    engineering = await createGroup(server, "engineering", server.groupUid, "Builds the product");
    await createGroup(server, "platform", engineering);
    await createGroup(server, "security", server.groupUid);
    await bindRole(server, "owner", "owner");
    await bindRole(server, "viewer", "viewer");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const groupsPath = (uid = "") => `/console/o/${server.groupUid}/groups/${uid}`;

  it("opens from the first address of the server with two clicks", async () => {
    await using console = await openConsole(browser, server);
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: "Overview of example.org" }).waitFor();
    assert.equal(page.url(), `${server.url}/console/o/${server.groupUid}/overview`);
    const stored = await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])");
    assert.doesNotMatch(String(stored), /eyJ/);
    assert.deepEqual(complaints, []);
  });

  it("returns to the page that was asked for", async () => {
    await using console = await openConsole(browser, server, { path: groupsPath(engineering) });
    await signIn(console.page, "owner");
    await console.page.getByRole("heading", { name: "engineering" }).waitFor();
    assert.equal(new URL(console.page.url()).pathname, groupsPath(engineering));
    assert.deepEqual(console.complaints, []);
  });

  it("stays signed in after a reload, with an expired token, and with a restarted tab", async () => {
    await using console = await openConsole(browser, server);
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    aheadMs += signInLimits.browserTokenMs + 60_000;
    await page.getByRole("navigation").getByRole("link", { name: "Groups" }).click();
    await page.getByRole("treeitem", { name: /engineering/ }).waitFor();
    const second = await page.context().newPage();
    complaintsOf(second);
    await second.goto(server.url + groupsPath());
    await second.getByRole("treeitem", { name: /engineering/ }).waitFor();
    // Chromium logs the 401 of the expired token.
    assert.deepEqual(
      complaints.filter((line) => !line.includes("401")),
      [],
    );
  });

  it("a sign-out takes every tab to the sign-in page, and nothing that was read stays in them", async () => {
    await using console = await openConsole(browser, server, { path: groupsPath(engineering) });
    const { page } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: "engineering" }).waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { name: "Overview of example.org" }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${server.url}/console/me`);
    await other.getByRole("button", { name: "Sign out" }).click();
    for (const tab of [page, other]) {
      await tab.getByRole("heading", { name: "Sign in to Gatehouse" }).waitFor();
      await tab.waitForURL(`${server.url}/console/`);
      assert.equal(await tab.getByRole("dialog").count(), 0);
      assert.doesNotMatch(await tab.content(), /engineering|owner@example\.org/);
    }
    assert.equal((await page.context().cookies()).filter(({ name }) => name.startsWith("gatehouse-session")).length, 0);
    await page.goBack();
    await page.getByRole("heading", { name: "Sign in to Gatehouse" }).waitFor();
    assert.doesNotMatch(await page.content(), /engineering|owner@example\.org/);
    await signIn(page, "owner");
    await page.getByRole("heading", { name: "engineering" }).waitFor();
  });

  it("a tab whose session was ended elsewhere shows the sign-in page when it is looked at again", async () => {
    await using first = await openConsole(browser, server, { path: groupsPath(engineering) });
    await signIn(first.page, "owner");
    await first.page.getByRole("heading", { name: "engineering" }).waitFor();
    await using second = await openConsole(browser, server, { path: "/console/me" });
    await signIn(second.page, "owner");
    await second.page.getByRole("button", { name: "End all other sessions" }).click();
    await second.page.getByText("Session ended").waitFor();
    await first.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await first.page.getByRole("heading", { name: "Sign in to Gatehouse" }).waitFor();
    assert.doesNotMatch(await first.page.content(), /engineering/);
    await signIn(first.page, "owner");
    await first.page.getByRole("heading", { name: "engineering" }).waitFor();
  });

  it("lists one's sessions, and ends the others", async () => {
    await using first = await openConsole(browser, server, { path: "/console/me" });
    await signIn(first.page, "someone");
    await first.page.getByText("this browser", { exact: true }).waitFor();
    await using second = await openConsole(browser, server, { path: "/console/me" });
    await signIn(second.page, "someone");
    await second.page.getByRole("button", { name: "End all other sessions" }).click();
    await second.page.getByText("Session ended").waitFor();
    await first.page.reload();
    await first.page.getByRole("heading", { name: "Sign in to Gatehouse" }).waitFor();
    assert.deepEqual(second.complaints, []);
  });

  it("creates, renames and deletes a group by mouse, with errors at the field", async () => {
    await using console = await openConsole(browser, server, { path: groupsPath(engineering) });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("button", { name: "New group" }).click();
    const dialog = page.getByRole("dialog", { name: "New group in engineering" });
    await dialog.getByLabel("Name").fill("Not Allowed!");
    await dialog.getByRole("button", { name: "Create group" }).click();
    await dialog.getByText(/lower-case letters, digits/).waitFor();
    assert.equal(await dialog.getByLabel("Name").getAttribute("aria-invalid"), "true");
    await dialog.getByLabel("Name").fill("tools");
    await dialog.getByLabel("Description").fill("What others use");
    await dialog.getByRole("button", { name: "Create group" }).click();
    await page.getByRole("heading", { name: "tools" }).waitFor();
    await page.getByRole("treeitem", { name: /tools/ }).waitFor();

    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("tooling");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByRole("heading", { name: "tooling", exact: true }).waitFor();

    await page.getByRole("button", { name: "Delete" }).click();
    const button = page.getByRole("button", { name: "Delete group" });
    await page.getByLabel("Type tooling to confirm").waitFor();
    assert.equal(await button.isDisabled(), true);
    await page.getByLabel("Type tooling to confirm").fill("tooling");
    await button.click();
    await page.getByRole("heading", { name: "engineering" }).waitFor();
    await page.getByRole("treeitem", { name: /tooling/ }).waitFor({ state: "detached" });
    assert.deepEqual(
      // A read on its way may be overtaken by the deletion.
      complaints.filter((line) => !/40[04] \(/.test(line)),
      [],
    );
  });

  it("shows what someone else has changed while a form was open", async () => {
    const uid = await createGroup(server, "shared", engineering, "first");
    const describe = (description: string) =>
      rest(server.url, server.ownerToken, "PATCH", `/iam/v2beta1/groups/${uid}?updateMask=description`, {
        description,
      });
    await using console = await openConsole(browser, server, { path: `${groupsPath(uid)}?dialog=edit` });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const dialog = page.getByRole("dialog", { name: "Edit shared" });
    await dialog.getByLabel("Description").fill("mine");
    assert.equal((await describe("theirs")).status, 200);
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await dialog.getByRole("heading", { name: "Someone else has changed this" }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Take the other values" }).click();
    await page.locator("[name=description]").filter({ hasText: "theirs" }).waitFor();
    await dialog.getByLabel("Description").fill("mine");
    assert.equal((await describe("theirs again")).status, 200);
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await dialog.getByRole("button", { name: "Save mine" }).click();
    await page.getByText("Group shared saved").waitFor();
    const { body } = await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/groups/${uid}`);
    assert.equal(body.description, "mine");
    assert.deepEqual(complaints, []);
  });

  it("says what stands in the way of a deletion", async () => {
    await using console = await openConsole(browser, server, { path: `${groupsPath(engineering)}?dialog=delete` });
    await signIn(console.page, "owner");
    const dialog = console.page.getByRole("dialog", { name: "Delete engineering" });
    await dialog.getByText("First delete:").waitFor();
    await dialog
      .getByRole("listitem")
      .filter({ hasText: /^\d groups?$/ })
      .waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Delete group" }).isDisabled(), true);
  });

  it("creates, renames and deletes a group by keyboard alone", async () => {
    await using console = await openConsole(browser, server);
    const { page, complaints } = console;
    await page.getByRole("button", { name: "Sign in" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "owner", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("g");
    const tree = page.getByRole("tree");
    await tree.getByRole("treeitem", { name: /security/ }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.press("Tab");
    const focused = () => page.evaluate("document.activeElement.textContent");
    assert.match(String(await focused()), /^example\.org/);
    await page.keyboard.press("ArrowDown");
    assert.match(String(await focused()), /^engineering/);
    await page.keyboard.press("ArrowRight");
    await tree.getByRole("treeitem", { name: /platform/ }).waitFor();
    await page.keyboard.press("ArrowRight");
    assert.match(String(await focused()), /^platform/);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await tree.getByRole("treeitem", { name: /platform/ }).waitFor({ state: "detached" });
    await page.keyboard.press("End");
    assert.match(String(await focused()), /^security/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "security" }).waitFor();
    await page.keyboard.press("n");
    await page.getByRole("dialog", { name: "New group in security" }).waitFor();
    await page.keyboard.type("keys");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "keys" }).waitFor();
    await page.keyboard.press("Delete");
    await page.getByLabel("Type keys to confirm").and(page.locator(":focus")).waitFor();
    await page.keyboard.type("keys");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "security" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    // A read on its way may be overtaken by the deletion.
    assert.deepEqual(
      complaints.filter((line) => !line.includes("404 (")),
      [],
    );
  });

  it("keeps what is typed into the palette while the view behind it still opens", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const held = Promise.withResolvers<void>();
    await page.route("**/assets/roles-*", async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.keyboard.type("gl");
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Jump to" });
    await palette.waitFor();
    await page.keyboard.type("engin");
    held.resolve();
    await page.locator("h1", { hasText: "Roles" }).waitFor({ state: "attached" });
    await page.keyboard.type("eering");
    await palette.getByRole("option", { name: /^engineering/ }).waitFor();
    assert.equal(await palette.getByRole("combobox").inputValue(), "engineering");
  });

  it("finds a group by its name, and opens a uid", async () => {
    await using console = await openConsole(browser, server, { path: groupsPath() });
    const { page } = console;
    await signIn(page, "owner");
    const filter = page.getByRole("searchbox");
    await filter.fill("platform");
    await page.getByRole("treeitem", { name: /platform/ }).waitFor();
    assert.equal(await page.getByRole("treeitem").count(), 1);
    assert.match(page.url(), /filter=platform/);
    await filter.fill("nothing");
    await page.getByText("No group matches.").waitFor();
    await filter.fill(engineering);
    await page.getByRole("heading", { name: "engineering" }).waitFor();
  });

  it("lets a viewer look, makes no call that is denied, and says what is missing", async () => {
    await using console = await openConsole(browser, server, { path: groupsPath(engineering) });
    const { page, complaints } = console;
    await signIn(page, "viewer");
    await page.getByRole("heading", { name: "engineering" }).waitFor();
    const create = page.getByRole("button", { name: "New group" });
    assert.equal(await create.getAttribute("aria-disabled"), "true");
    await create.focus();
    await page.getByRole("tooltip", { name: /groups\.create/ }).waitFor();
    await create.click({ force: true });
    assert.equal(await page.getByRole("dialog").count(), 0);
    await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await untilQuiet(page);
    assert.deepEqual(complaints, []);
  });

  it("tells a stranger what to do, and accepts an invite", async () => {
    await using console = await openConsole(browser, server);
    const { page, complaints } = console;
    await signIn(page, "stranger");
    await page.getByRole("heading", { name: "You have no role yet" }).waitFor();
    await page
      .getByText(userUid(`${server.config.baseUrl}/development/login`, "stranger"))
      .first()
      .waitFor();
    assert.deepEqual(await findProblems(page), []);
    const roles = await rest(server.url, server.ownerToken, "GET", "/iam/v2beta1/roles?name=viewer");
    const invite = { roleUid: roles.body.roles[0].uid, ttl: "600s" };
    const path = `/iam/v2beta1/groupInvites/${engineering}`;
    const { code } = (await rest(server.url, server.ownerToken, "POST", path, invite)).body;
    await page.getByLabel("Code of an invite").fill(code);
    await page.getByRole("button", { name: "Accept invite" }).click();
    await page.getByLabel(/Another person/).fill("stranger");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Join this organization?" }).waitFor();
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Groups" }).click();
    await page.getByRole("treeitem", { name: /engineering/ }).waitFor();
    await untilQuiet(page);
    assert.deepEqual(complaints, []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible, ${dark ? "dark" : "light"}, ${width} pixels wide`, async () => {
        await using console = await openConsole(browser, server, { dark, width, path: groupsPath(engineering) });
        const { page, complaints } = console;
        await page.getByRole("button", { name: "Sign in" }).waitFor();
        assert.deepEqual(await findProblems(page), [], "sign-in");
        await signIn(page, "owner");
        await page.getByRole("heading", { name: "engineering" }).waitFor();
        await untilQuiet(page);
        assert.deepEqual(await findProblems(page), [], "groups");
        await page.getByRole("button", { name: "Copy as" }).click();
        await page.getByRole("menuitem", { name: "grpcurl" }).waitFor();
        assert.deepEqual(await findProblems(page), [], "menu");
        await page.keyboard.press("Escape");
        for (const [button, view] of [
          ["New group", "new"],
          ["Delete", "delete"],
          ["Keyboard shortcuts", "keys"],
        ] as const) {
          await page.getByRole("button", { name: button, exact: true }).click();
          await page.getByRole("dialog").waitFor();
          await untilQuiet(page);
          assert.deepEqual(await findProblems(page), [], view);
          await page.keyboard.press("Escape");
          await page.getByRole("dialog").waitFor({ state: "detached" });
        }
        for (const path of [`/console/o/${server.groupUid}/overview`, "/console/me", "/console/nowhere"]) {
          await page.goto(server.url + path);
          await page.getByRole("main").waitFor();
          await untilQuiet(page);
          assert.deepEqual(await findProblems(page), [], path);
        }
        assert.deepEqual(complaints, []);
      });

  it("the console shows hostile texts as text", async () => {
    const description = `<img src=x onerror=alert(1)> \u202Egnp.exe \u200B😀 {count} javascript:alert(1) ${"w".repeat(400)}`;
    const uid = await createGroup(server, "hostile", server.groupUid, description);
    await using console = await openConsole(browser, server, { path: groupsPath(uid), width: 375 });
    const { page, complaints } = console;
    page.on("dialog", (dialog) => complaints.push(dialog.message()));
    await signIn(page, "owner");
    await page.getByRole("heading", { name: "hostile" }).waitFor();
    const shown = page.getByRole("region", { name: "hostile" });
    assert.ok((await shown.textContent())?.includes("<img src=x onerror=alert(1)>"));
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  it("speaks German", async () => {
    await using console = await openConsole(browser, server, { locale: "de", path: "/console/me" });
    const { page } = console;
    await page.getByRole("button", { name: "Anmelden" }).click();
    await page.getByRole("link", { name: "owner", exact: true }).click();
    await page.getByRole("heading", { name: "Ihre Sitzungen" }).waitFor();
    assert.equal(await page.evaluate("document.documentElement.lang"), "de");
  });

  it("works on after a restart of the server", async () => {
    const other = await startTestServer();
    const { dataDir, port } = other.config;
    await bindRole(other, "owner", "owner");
    await using console = await openConsole(browser, other);
    const { page } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await other.server[Symbol.asyncDispose]();
    await page.keyboard.type("gm");
    await using again = await startTestServer({ settings: { dataDir, listen: `127.0.0.1:${port}` } }).catch(
      async () => {
        throw new Error("the server does not start again");
      },
    );
    await page.getByText("this browser", { exact: true }).waitFor({ timeout: 20_000 });
    assert.equal(again.config.port, port);
    await other[Symbol.asyncDispose]();
  });
});
