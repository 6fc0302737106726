// The frame of all views in a real browser: keys, palette, organizations, and what people without roles can do.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, createResource, findProblems, openConsole, signIn } from "./console.ts";

describe("the frame of the console", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let engineering: string;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    const listen = `127.0.0.1:${await freePort()}`;
    const trustedEmailIssuers = `http://${listen}/development/login`;
    server = await startTestServer({ settings: { listen, trustedEmailIssuers } });
    await bindRole(server, "owner", "owner");
    await bindRole(server, "owner", "operator");
    await bindRole(server, "viewer", "viewer");
    await bindRole(server, "guest", "registry.pull");
    engineering = await createGroup(server, "engineering", server.groupUid);
    for (let i = 0; i < 9; i++) await createGroup(server, `team ${i}`, engineering);
    await createResource(server, `identities/${engineering}`, {
      name: "builder",
      claimMatch: { issuer: "https://issuer.example.org", subject: "builder" },
    });
    await createResource(server, `roles/${server.groupUid}`, { name: "reader", capabilities: ["CAP_REPO_LIST"] });
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const at = (view: string) => `/console/o/${server.groupUid}/${view}`;
  const palette = (page: Page) => page.getByRole("dialog", { name: "Jump to" });
  const openPalette = async (page: Page) => {
    await page.keyboard.press("Control+k");
    await palette(page).getByRole("combobox").and(page.locator(":focus")).waitFor();
  };

  it("finds actions, views and resources in the palette, and says when there are more", async () => {
    await using console = await openConsole(browser, server, { path: at("groups/") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("treeitem", { name: /engineering/ }).waitFor();
    await openPalette(page);
    const options = palette(page).getByRole("option");
    // The action of the page is there once, although the palette offers it everywhere.
    await options.filter({ hasText: "on this page" }).filter({ hasText: "New group" }).waitFor();
    assert.equal(await options.filter({ hasText: "New group" }).count(), 1);
    await page.keyboard.type("team");
    await options.filter({ hasText: "team 7" }).waitFor();
    await palette(page).getByText("Type more of the name").waitFor();
    await palette(page).getByRole("combobox").fill("team 8");
    await options.filter({ hasText: "team 8" }).waitFor();
    assert.equal(await palette(page).getByText("Type more of the name").count(), 0);
    await palette(page).getByRole("combobox").fill("new r");
    await options.filter({ hasText: "New role" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "New role" }).waitFor();
    assert.match(page.url(), /\/roles\/?\?dialog=new/);
    await page.keyboard.press("Escape");
    await openPalette(page);
    await page.keyboard.type("operate");
    await options.filter({ hasText: "g t" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Operate this installation" }).waitFor();
    await openPalette(page);
    await page.keyboard.type(engineering);
    await options.filter({ hasText: "engineering" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "engineering" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("shows a viewer what is missing for an action, and does not do it", async () => {
    await using console = await openConsole(browser, server, { path: at("overview") });
    const { page, complaints } = console;
    await signIn(page, "viewer");
    await page.getByRole("heading", { name: /Overview/ }).waitFor();
    await openPalette(page);
    await page.keyboard.type("new group");
    const option = palette(page).getByRole("option", { name: /New group/ });
    await option.getByText("groups.create").waitFor();
    assert.equal(await option.getAttribute("aria-disabled"), "true");
    await page.keyboard.press("Enter");
    await option.click({ force: true });
    assert.match(page.url(), /\/overview$/);
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("g");
    await page.getByRole("button", { name: "New group" }).waitFor();
    await page.keyboard.press("n");
    await page.getByRole("status").getByText("groups.create").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.deepEqual(complaints, []);
  });

  it("loads the code of the views after the first one is shown: opening one asks for no more files", async () => {
    await using console = await openConsole(browser, server, { path: at("overview") });
    const { page, complaints } = console;
    const files: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/assets/")) files.push(new URL(request.url()).pathname);
    });
    // The last view of the navigation.
    const [last] = await Promise.all([
      page.waitForRequest(/\/assets\/audit-/, { timeout: 60_000 }),
      signIn(page, "owner"),
    ]);
    await (await last.response())?.finished();
    const before = [...files];
    for (const [key, heading] of Object.entries({ w: "Workloads", l: "Roles", a: "Who can do what" })) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await page.locator("tr[data-key]").first().waitFor();
    }
    assert.deepEqual(
      files.filter((file) => !before.includes(file)),
      [],
    );
    assert.deepEqual(complaints, []);
  });

  it("goes to each view by its keys", async () => {
    await using console = await openConsole(browser, server, { path: at("overview") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: /Overview/ }).waitFor();
    const views = {
      g: "Groups",
      p: "People",
      w: "Workloads",
      a: "Who can do what",
      c: "Access reviews",
      s: "Sign-in",
      l: "Roles",
      r: "Registry",
      v: "Advisories",
      e: "Webhooks",
      u: "Audit log",
      m: "Me",
      t: "Operate this installation",
      o: "Overview",
    };
    for (const [key, heading] of Object.entries(views)) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page
        .getByRole("heading", { name: heading, level: 1 })
        .or(page.locator("h1", { hasText: heading }))
        .first()
        .waitFor();
    }
    assert.deepEqual(complaints, []);
  });

  it("creates, edits and deletes by n, e and Delete in each view that can", async () => {
    await using console = await openConsole(browser, server, { path: at("groups/") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const press = async (key: string, dialog: string | RegExp) => {
      await page.keyboard.press(key);
      await page.getByRole("dialog", { name: dialog }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    await page.getByRole("treeitem", { name: /engineering/ }).click();
    await page.getByRole("heading", { name: "engineering" }).waitFor();
    await press("n", "New group in engineering");
    await press("e", /engineering/);
    await press("Delete", "Delete engineering");
    await page.goto(server.url + at("roles/"));
    await page.getByRole("link", { name: "reader", exact: true }).click();
    await page.getByRole("heading", { name: "reader", exact: true }).waitFor();
    await press("n", "New role");
    await press("e", /reader/);
    await press("Delete", /reader/);
    await page.goto(server.url + at("identities/"));
    await page.getByRole("link", { name: "builder" }).click();
    await page.getByRole("heading", { name: "builder" }).waitFor();
    await press("n", "Grant access");
    await press("e", /builder/);
    await press("Delete", /builder/);
    for (const tab of ["invites", "providers", "accounts"]) {
      await page.goto(server.url + at(`identities/?tab=${tab}`));
      await page.locator('#content [aria-keyshortcuts="n"]:not([aria-disabled="true"])').waitFor();
      await press("n", /./);
    }
    for (const view of ["access", "registry/", "events/"]) {
      await page.goto(server.url + at(view));
      await page.locator('#content [aria-keyshortcuts="n"]:not([aria-disabled="true"])').waitFor();
      await press("n", /./);
    }
    assert.deepEqual(complaints, []);
  });

  it("the key c copies a call, the key / goes to the filter, and the key ? shows all keys", async () => {
    await using console = await openConsole(browser, server, { path: at("roles/") });
    const { page, complaints } = console;
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await signIn(page, "owner");
    await page.getByRole("link", { name: "reader", exact: true }).waitFor();
    await page.keyboard.press("/");
    const focused = () => page.evaluate("document.activeElement.getAttribute('type')");
    assert.equal(await focused(), "search");
    await page.keyboard.type("c?n");
    assert.equal(await page.getByRole("searchbox").inputValue(), "c?n", "keys do not act in a field");
    await page.getByRole("searchbox").fill("");
    await page.getByRole("heading", { name: "Roles" }).click();
    await page.keyboard.press("c");
    await page.getByRole("menuitem", { name: "grpcurl" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Copied").waitFor();
    const copied = String(await page.evaluate("navigator.clipboard.readText()"));
    assert.match(copied, /\$TOKEN.*\/iam\/v2beta1\/roles/);
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await page.getByRole("heading", { name: /Overview/ }).waitFor();
    // A view without a filter.
    await page.keyboard.press("/");
    await palette(page).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    for (const line of ["Copy the call as a command", "Open the menu of the row", "PgUp PgDn", "g t"])
      await keys.getByText(line).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("moves in tables by PgDn, and opens the menu of a row by Shift F10", async () => {
    await using console = await openConsole(browser, server, { path: at("roles/") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const rows = page.getByRole("table", { name: "Roles" }).locator("tbody tr");
    await rows.nth(11).waitFor();
    await rows.first().focus();
    const index = () => page.evaluate("document.activeElement.rowIndex - 1");
    await page.keyboard.press("PageDown");
    assert.equal(await index(), 10);
    await page.keyboard.press("PageUp");
    assert.equal(await index(), 0);
    await page.goto(server.url + at("access"));
    const row = page.locator("tr[data-key]").first();
    await row.waitFor();
    await row.focus();
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem").first().waitFor();
    await page.keyboard.press("Escape");
    await page.goto(server.url + at("groups/"));
    await page.getByRole("treeitem", { name: /engineering/ }).focus();
    await page.keyboard.press("Shift+F10");
    await palette(page)
      .getByRole("option", { name: /Delete.*on this page/ })
      .waitFor();
    assert.match(page.url(), new RegExp(`/groups/${engineering}`));
    assert.deepEqual(complaints, []);
  });

  it("moves in menus by arrows, Home, End and letters, closes them by Esc and Tab, and gives the focus back", async () => {
    await using console = await openConsole(browser, server, { path: at("access") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const button = page.getByRole("button", { name: /^owner here/ }).first();
    const focused = () => page.evaluate("document.activeElement.textContent.trim()");
    await button.focus();
    await page.keyboard.press("Enter");
    assert.equal(await focused(), "Open role owner");
    for (const [key, item] of [
      ["ArrowUp", "Revoke role binding"],
      ["ArrowDown", "Open role owner"],
      ["End", "Revoke role binding"],
      ["Home", "Open role owner"],
      ["c", "Change role"],
      ["o", "Open role owner"],
      ["o", "Open group example.org"],
    ] as const) {
      await page.keyboard.press(key);
      assert.equal(await focused(), item, key);
    }
    await page.keyboard.press("Escape");
    assert.match(String(await focused()), /^owner here/);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.equal(await page.getByRole("menuitem").count(), 0);
    assert.doesNotMatch(String(await focused()), /^Open/);
    // Esc closes the menu, not the panel around it.
    await page.goto(server.url + at("access"));
    const row = page.locator("tr[data-key]").filter({ hasText: "owner here" }).first();
    await row.locator("[data-area]").first().click();
    const panel = page.getByRole("dialog");
    await panel
      .getByRole("button", { name: /^owner here/ })
      .first()
      .press("Enter");
    await page.getByRole("menuitem", { name: "Open role owner" }).waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("menuitem").count(), 0);
    await panel.waitFor();
    assert.deepEqual(complaints, []);
  });

  it("shows times in UTC by U", async () => {
    await using console = await openConsole(browser, server, { path: at("audit") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("list", { name: "Audit log" }).getByRole("listitem").first().waitFor();
    await page.keyboard.press("Shift+U");
    await page.getByText(/ UTC$/).first().waitFor();
    assert.match(page.url(), /clock=utc/);
    assert.deepEqual(complaints, []);
  });

  it("switches organizations: by a search, by a pin, and by the palette; one alone has no menu", async () => {
    const organizations = await startTestServer({});
    await using _closing = organizations;
    await bindRole(organizations, "owner", "owner");
    await bindRole(organizations, "viewer", "viewer");
    await using alone = await openConsole(browser, organizations);
    await signIn(alone.page, "viewer");
    await alone.page.getByRole("heading", { name: /Overview/ }).waitFor();
    assert.equal(await alone.page.getByRole("button", { name: /Switch organization/ }).count(), 0);
    const uids: string[] = [];
    for (const name of ["beta", "gamma", "delta"]) {
      const uid = await createResource(organizations, "groups/", { name });
      uids.push(uid);
      await bindRole({ ...organizations, groupUid: uid }, "owner", "owner");
    }
    await using console = await openConsole(browser, organizations);
    const { page, complaints } = console;
    await signIn(page, "owner");
    const button = page.getByRole("button", { name: /Switch organization/ });
    await button.click();
    const dialog = page.getByRole("dialog", { name: "Organizations" });
    await dialog.getByText("All organizations (4)").waitFor();
    await dialog.getByText("delta").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Pin gamma" }).click();
    await dialog.getByRole("region", { name: "Pinned" }).getByText("gamma").waitFor();
    await dialog.getByRole("searchbox").fill("ETA");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/o/${uids[0]}/overview`);
    await dialog.waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("button", { name: /now beta/ }).click();
    await dialog.getByRole("region", { name: "Pinned" }).getByText("gamma").waitFor();
    await page.keyboard.press("Escape");
    await openPalette(page);
    await page.keyboard.type("gamma");
    await page.getByRole("option", { name: /gamma.*organization/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/o/${uids[1]}/overview`);
    assert.deepEqual(complaints, []);
  });

  it("reaches organizations beyond the first 200", async () => {
    await using many = await startTestServer({});
    await bindRole(many, "owner", "owner");
    const uids: string[] = [];
    for (let i = 0; i < 205; i++) {
      const uid = await createResource(many, "groups/", { name: `org ${String(i).padStart(3, "0")}` });
      await bindRole({ ...many, groupUid: uid }, "owner", "viewer");
      uids.push(uid);
    }
    // By a link.
    await using console = await openConsole(browser, many, { path: `/console/o/${uids[204]}/overview` });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("button", { name: "Switch organization, now org 204" }).click();
    const dialog = page.getByRole("dialog", { name: "Organizations" });
    await dialog.getByText("All organizations (206)").waitFor();
    await dialog.getByText("The first 100 are shown").waitFor();
    await dialog.getByRole("searchbox").fill("g 203");
    await dialog.getByRole("link", { name: /org 203/ }).click();
    await page.waitForURL(`**/o/${uids[203]}/overview`);
    await page.getByRole("button", { name: "Switch organization, now org 203" }).click();
    const recent = dialog.getByRole("region", { name: "Recently used" });
    await recent.getByRole("button", { name: "Pin org 204" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Switch organization, now org 203" }).click();
    await dialog
      .getByRole("region", { name: "Pinned" })
      .getByRole("link", { name: /org 204/ })
      .waitFor();
    await dialog.getByRole("searchbox").fill("f".repeat(40));
    await dialog.getByText("Nothing matches").waitFor();
    await dialog.getByRole("searchbox").fill(uids[202]!);
    await dialog
      .getByRole("region", { name: "What was found" })
      .getByRole("link", { name: /org 202/ })
      .click();
    await page.waitForURL(`**/o/${uids[202]}/overview`);
    assert.deepEqual(complaints, []);
  });

  it("finds the organization of a person without a role, and asks its owners once", async () => {
    await using console = await openConsole(browser, server);
    const { page, complaints } = console;
    await signIn(page, "nobody");
    await page.getByRole("heading", { name: "You have no role yet" }).waitFor();
    await page.getByRole("button", { name: "Find my organization" }).click();
    await page.getByText(/No organization is known/).waitFor();
    const verified = { uid: server.groupUid, name: "example.org", verified: true, kind: "ORG_KIND_CUSTOMER" };
    const path = `/iam/v2beta1/groups/${server.groupUid}?updateMask=verified,kind`;
    const patched = await rest(server.url, server.ownerToken, "PATCH", path, verified);
    assert.equal(patched.status, 200, JSON.stringify(patched.body));
    await page.reload();
    await page.getByRole("button", { name: "Find my organization" }).click();
    await page.getByText("Your organization is example.org.").waitFor();
    await page.getByRole("button", { name: "Ask its owners" }).click();
    await page.getByText("The owners were asked").waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Find my organization" }).click();
    await page.getByRole("button", { name: "Ask its owners" }).click();
    // An error has the id by which an operator finds the request.
    await page
      .getByRole("alert")
      .getByText(/less than an hour ago/)
      .waitFor();
    await page.getByRole("button", { name: /Copy Request/ }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    const owner = await openConsole(browser, server, { path: at("audit?q=kind:group_access_requests") });
    await using _closing = owner;
    await signIn(owner.page, "owner");
    await owner.page.getByText("asked for access to").first().waitFor();
    assert.deepEqual(
      complaints.filter((line) => !/404|429/.test(line)),
      [],
    );
  });

  it("says to a guest what is missing, why, and whom to ask", async () => {
    await using console = await openConsole(browser, server, { path: at("events/") });
    const { page, complaints } = console;
    await signIn(page, "guest");
    await page.getByRole("heading", { name: "You may not see this" }).waitFor();
    await page.getByText("subscriptions.list").first().waitFor();
    await page.getByText("Ask an owner of example.org.").waitFor();
    await page.getByRole("link", { name: "Why?" }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  for (const width of [1280, 375])
    for (const dark of [false, true])
      it(`has no problem that axe-core finds at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await openConsole(browser, server, { path: at("groups/"), width, dark });
        const { page, complaints } = console;
        await signIn(page, "viewer");
        await page.getByRole("treeitem", { name: /engineering/ }).waitFor();
        await openPalette(page);
        await palette(page).getByRole("option").first().waitFor();
        assert.deepEqual(await findProblems(page), []);
        await page.keyboard.type("new");
        await palette(page)
          .getByRole("option", { name: /New role/ })
          .waitFor();
        assert.deepEqual(await findProblems(page), []);
        await page.keyboard.press("Escape");
        await page.keyboard.press("?");
        await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
        assert.deepEqual(await findProblems(page), []);
        assert.deepEqual(complaints, []);
      });
});
