// The tree of groups with thousands of children, and what stands in the way of deleting a group.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, createResource, findProblems, openConsole, signIn } from "./console.ts";
import { untilQuiet } from "./quiet.ts";

/** How many groups are under one parent. */
const total = 3000;

describe("the tree of groups with thousands of children", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let parent = "";
  const children = new Map<string, string>();
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    await createGroup(server, "before", server.groupUid);
    parent = await createGroup(server, "many", server.groupUid);
    await createGroup(server, "after", server.groupUid);
    const names = Array.from({ length: total }, (_, i) => nameOf(i));
    for (let from = 0; from < total; from += 100)
      await Promise.all(
        names.slice(from, from + 100).map(async (name) => children.set(name, await createGroup(server, name, parent))),
      );
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const pathOf = (uid: string) => `/console/o/${server.groupUid}/groups/${uid}`;
  // The last one begins with another letter.
  const nameOf = (i: number) => (i === total - 1 ? "zulu" : `child ${String(i).padStart(4, "0")}`);
  const row = (page: Page, i: number) => page.getByRole("treeitem", { name: new RegExp(`^${nameOf(i)}`) });
  const focusOn = (page: Page, name: string) =>
    page.locator('[role="treeitem"]:focus', { hasText: new RegExp(`^${name}`) }).waitFor();
  const range = (page: Page, text: RegExp) => page.getByText(text).waitFor();

  async function openMany(page: Page, person = "owner"): Promise<void> {
    await signIn(page, person);
    await page.getByRole("heading", { name: "many", level: 2 }).waitFor();
    await page.getByRole("treeitem", { name: /^many/ }).press("ArrowRight");
    await row(page, 0).waitFor();
  }

  it("goes through the whole range by keyboard, with a few dozen rows in the document", async () => {
    await using console = await openConsole(browser, server, { path: pathOf(parent) });
    const { page, complaints } = console;
    await openMany(page);
    await page.getByRole("treeitem", { name: /^many/ }).getByText("3,000 groups").waitFor();
    await range(page, /1–\d+ of 3,000/);
    await page.keyboard.press("ArrowRight");
    await focusOn(page, "child 0000");
    await page.keyboard.press("End");
    await focusOn(page, "zulu");
    await page.keyboard.press("ArrowUp");
    await focusOn(page, "child 2998");
    await page.keyboard.press("Home");
    await focusOn(page, "example.org");
    // Letters go to a name in the open group where the keyboard is.
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowDown");
    await focusOn(page, "child 0000");
    await page.keyboard.press("z");
    await focusOn(page, "zulu");
    await page.keyboard.press("PageUp");
    await focusOn(page, "child 29[789]");
    await page.getByRole("heading", { name: "many", level: 2 }).waitFor();
    assert.ok((await page.getByRole("treeitem").count()) < 80);
    assert.deepEqual(complaints, []);
  });

  it("loads what the scroll bar is dragged to, and says where that is", async () => {
    await using console = await openConsole(browser, server, { path: pathOf(parent) });
    const { page, complaints } = console;
    await openMany(page);
    const scrollTo = (share: number) =>
      page.getByRole("tree").evaluate((tree, part) => {
        const { scrollHeight, clientHeight } = tree as unknown as { scrollHeight: number; clientHeight: number };
        Object.assign(tree, { scrollTop: (scrollHeight - clientHeight) * part });
      }, share);
    await scrollTo(1);
    await row(page, total - 1).waitFor();
    await range(page, /–3,000 of 3,000/);
    await scrollTo(0.5);
    await row(page, total / 2).waitFor();
    const place = row(page, total / 2);
    assert.deepEqual(
      await Promise.all(["aria-posinset", "aria-setsize", "aria-level"].map((name) => place.getAttribute(name))),
      ["1501", "3000", "3"],
    );
    assert.ok((await page.getByRole("treeitem").count()) < 80);
    assert.deepEqual(complaints, []);
  });

  it("jumps to a name, and Enter goes on from there by keyboard", async () => {
    await using console = await openConsole(browser, server, { path: pathOf(parent) });
    const { page, complaints } = console;
    await openMany(page, "viewer");
    const field = page.getByLabel("Jump to a name in many");
    await field.fill("child 23");
    await row(page, 2300).waitFor();
    await field.fill("zulu");
    await row(page, total - 1).waitFor();
    await field.fill("CHILD 1234");
    await field.press("Enter");
    await row(page, 1234).waitFor();
    await focusOn(page, "child 1234");
    await page.keyboard.press("ArrowDown");
    await focusOn(page, "child 1235");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "child 1235" }).waitFor();
    await untilQuiet(page);
    assert.deepEqual(complaints, []);
  });

  it("opens a link to a group that is far from the first ones, at its place", async () => {
    const uid = children.get(nameOf(2500))!;
    await using console = await openConsole(browser, server, { path: pathOf(uid) });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: nameOf(2500) }).waitFor();
    const selected = page.locator('[role="treeitem"][aria-selected="true"]');
    await selected.waitFor();
    assert.match(String(await selected.textContent()), /^child 2500/);
    assert.equal(await selected.getAttribute("aria-posinset"), "2501");
    await row(page, 2499).or(row(page, 2501)).first().waitFor();
    await range(page, /of 3,000/);
    // Open groups in the middle of the range keep the numbers of the rest.
    await createGroup(server, "inner", uid);
    await page.reload();
    await selected.press("ArrowRight");
    await page.getByRole("treeitem", { name: /^inner/ }).waitFor();
    assert.equal(await row(page, 2501).getAttribute("aria-posinset"), "2502");
    assert.deepEqual(complaints, []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible, ${dark ? "dark" : "light"}, ${width} pixels wide`, async () => {
        await using console = await openConsole(browser, server, { dark, width, path: pathOf(parent) });
        const { page, complaints } = console;
        await openMany(page);
        await untilQuiet(page);
        assert.deepEqual(await findProblems(page), []);
        assert.deepEqual(complaints, []);
      });
});

describe("a group that is not empty", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let full = "";
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    await bindRole(server, "owner", "owner");
    full = await createGroup(server, "full", server.groupUid);
    await createGroup(server, "child", full);
    await createResource(server, `accountAssociations/${full}`, { name: "accounts" });
    const role = { name: "cleaner", capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_GROUPS_DELETE"] };
    const roleUid = await createResource(server, `roles/${server.groupUid}`, role);
    const identityUid = userUid(`${server.config.baseUrl}/development/login`, "cleaner");
    await createResource(server, `roleBindings/${full}`, { identityUid, roleUid });
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const pathTo = (search = "") => `/console/o/${server.groupUid}/groups/${full}${search}`;

  it("says everything that stands in the way of deleting it, with links", async () => {
    await using console = await openConsole(browser, server, { path: pathTo("?dialog=delete") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const dialog = page.getByRole("dialog", { name: "Delete full" });
    await dialog.getByText("This group is not empty. First delete:").waitFor();
    assert.deepEqual(await dialog.getByRole("listitem").allTextContents(), [
      "1 group",
      "1 role binding",
      "1 connected account",
    ]);
    assert.equal(await dialog.getByRole("button", { name: "Delete group" }).isDisabled(), true);
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("link", { name: "1 connected account" }).click();
    await page.getByRole("heading", { name: "Sign-in" }).waitFor();
    assert.match(page.url(), /tab=accounts/);
    assert.deepEqual(complaints, []);
  });

  it("names kinds that the caller may not list, without a number", async () => {
    await using console = await openConsole(browser, server, { path: pathTo("?dialog=delete") });
    const { page, complaints } = console;
    await signIn(page, "cleaner");
    await page.getByRole("button", { name: "Join" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete full" });
    await dialog.getByText("This group is not empty. First delete:").waitFor();
    assert.deepEqual(await dialog.getByRole("listitem").allTextContents(), [
      "1 group",
      "role binding: one or more, which you may not see",
      "connected account: one or more, which you may not see",
    ]);
    assert.deepEqual(complaints, []);
  });
});
