// Access reviews in a real browser: one is started, decided and closed.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import {
  bindRole,
  buildConsole,
  builtInRoleUid,
  type ConsolePage,
  createGroup,
  createResource,
  findProblems,
  openConsole,
  signIn,
} from "./console.ts";

describe("access reviews", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let engineering: string;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    engineering = await createGroup(server, "engineering", server.groupUid);
    await bindRole(server, "owner", "owner");
    for (const name of ["builder", "deployer", "nightly", "legacy"]) {
      const identityUid = await createResource(server, `identities/${server.groupUid}`, {
        name,
        claimMatch: { issuer: "https://issuer.example.org", subject: name },
      });
      const binding = { identityUid, roleUid: builtInRoleUid(name === "legacy" ? "editor" : "viewer") };
      await createResource(server, `roleBindings/${engineering}`, binding);
    }
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function open(
    path: string,
    options: { readonly as?: string; readonly dark?: boolean; readonly locale?: string } = {},
  ): Promise<ConsolePage> {
    const { as = "owner", ...rest } = options;
    const console = await openConsole(browser, server, { path: `/console/o/${server.groupUid}/${path}`, ...rest });
    await signIn(console.page, as);
    await console.page.getByRole("heading", { level: 1 }).waitFor();
    return console;
  }

  const rowOf = (page: Page, name: string) => page.locator("tr[data-key]").filter({ hasText: name });

  /** Starts a review by the API, and returns its uid. */
  async function start(parent: string, changes: object = {}): Promise<string> {
    const { status, body } = await rest(server.url, server.ownerToken, "POST", `/access/v1/reviews/${parent}`, {
      title: "Quarter 3",
      dueTime: new Date(Date.now() + 14 * 86_400_000).toISOString(),
      onDue: "ACCESS_REVIEW_ON_DUE_END_UNCONFIRMED",
      ...changes,
    });
    assert.equal(status, 200, JSON.stringify(body));
    return body.uid;
  }

  it("starts a review of a group, and shows its roles with their last use", async () => {
    await using console = await open("reviews/");
    const { page, complaints } = console;
    await page.getByText("There are no reviews yet.").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole("button", { name: "New review" }).click();
    const dialog = page.getByRole("dialog", { name: "New review" });
    await dialog.getByLabel("Title").fill("Quarter 4");
    await dialog.getByRole("combobox", { name: "Group" }).fill("engineering");
    await page.getByRole("option", { name: /engineering/ }).click();
    await dialog.getByLabel("Due", { exact: true }).selectOption({ label: "in 7 days" });
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Start review" }).click();
    await page.getByRole("heading", { name: "Quarter 4" }).waitFor();
    await page.getByText("The review closes in 7 days. Roles that nobody decided about stay.").waitFor();
    await rowOf(page, "builder").getByText("never seen").waitFor();
    await rowOf(page, "legacy")
      .getByText(/^0 of \d+ used since /)
      .waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole("link", { name: "Access reviews" }).first().click();
    await rowOf(page, "Quarter 4").getByText("0 of 4").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("lets one choose the roles under review and who decides, and says so", async () => {
    await using console = await open("reviews/?dialog=new", { dark: true });
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog", { name: "New review" });
    await dialog.getByLabel("Title").fill("Editors");
    await dialog.getByRole("combobox", { name: "Only these roles" }).fill("editor");
    await page.getByRole("option", { name: "editor", exact: true }).click();
    await dialog.getByRole("combobox", { name: "Who decides" }).fill("builder");
    await page.getByRole("option", { name: /^builder/ }).click();
    await dialog.getByRole("list", { name: "Who decides" }).getByText("builder").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Start review" }).click();
    await page.getByRole("heading", { name: "Editors" }).waitFor();
    await page.getByText("Only builder may decide.").waitFor();
    await page.getByText("Only these roles are reviewed: editor.").waitFor();
    await rowOf(page, "legacy").waitFor();
    await rowOf(page, "builder").waitFor({ state: "detached" });
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  it("confirms and revokes roles one by one, and those that are selected", async () => {
    const uid = await start(engineering);
    await using console = await open(`reviews/${uid}`, { dark: true });
    const { page, complaints } = console;
    await page.getByLabel("Actions for viewer · builder").click();
    await page.getByRole("menuitem", { name: "Confirm" }).click();
    const confirm = page.getByRole("dialog", { name: "Confirm viewer of builder at engineering?" });
    await confirm.getByLabel("Comment").fill("builds each night");
    assert.deepEqual(await findProblems(page), []);
    await confirm.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("Role confirmed").waitFor();
    await rowOf(page, "builder").getByText("builds each night").waitFor();

    await page.getByLabel("Actions for editor · legacy").click();
    await page.getByRole("menuitem", { name: "Revoke" }).click();
    const revoke = page.getByRole("dialog", { name: "Revoke editor of legacy at engineering?" });
    assert.deepEqual(await findProblems(page), []);
    await revoke.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Role revoked").waitFor();
    await page.getByText("2 of 4 roles decided: 1 confirmed, 1 revoked.").waitFor();

    await page.getByRole("button", { name: "Undecided" }).click();
    await rowOf(page, "legacy").waitFor({ state: "detached" });
    await page.getByLabel("Select all on this page").check();
    await page.getByRole("button", { name: "Confirm", exact: true }).click();
    const bulk = page.getByRole("dialog", { name: "Confirm 2 roles?" });
    await bulk.getByLabel("Comment").fill("still needed");
    assert.deepEqual(await findProblems(page), []);
    await bulk.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("2 of 2 done").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("4 of 4 roles decided: 3 confirmed, 1 revoked.").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("leaves one's own role to others, and closes after its title was typed", async () => {
    const uid = await start(server.groupUid, { holders: "ACCESS_REVIEW_HOLDERS_PEOPLE" });
    await using console = await open(`reviews/${uid}`);
    const { page, complaints } = console;
    await rowOf(page, "owner").getByText("Your own: others decide.").waitFor();
    await page.getByRole("button", { name: "Close review" }).click();
    const dialog = page.getByRole("dialog", { name: "Close Quarter 3?" });
    const button = dialog.getByRole("button", { name: "Close review" });
    assert.equal(await button.isDisabled(), true);
    await dialog.getByRole("textbox").fill("Quarter 3");
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press("Escape");
    assert.deepEqual(complaints, []);
  });

  it("says the same in German", async () => {
    await start(engineering, { title: "Quartal 2" });
    const path = `/console/o/${server.groupUid}/reviews/`;
    await using console = await openConsole(browser, server, { path, locale: "de" });
    const { page } = console;
    await page.getByRole("button", { name: "Anmelden" }).click();
    await page.getByRole("link", { name: "owner", exact: true }).click();
    await page.getByRole("heading", { name: "Überprüfungen", exact: true }).waitFor();
    await rowOf(page, "Quartal 2").getByText("offen").waitFor();
  });
});
