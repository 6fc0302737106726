// Access requests in a real browser: a denied person requests a role, another one approves, the role is held, and given back.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { findRow, updateRow } from "../../src/storage/collection/rows.ts";
import { roleBindingCollection } from "../../src/storage/iam/collections.ts";
import { insertMembership } from "../../src/storage/iam/memberships.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { arrange } from "../security/tree.ts";
import { openChromium } from "./chromium.ts";
import {
  bindRole,
  buildConsole,
  builtInRoleUid,
  type ConsolePage,
  createGroup,
  createResource,
  findProblems,
  openConsoleAs,
} from "./console.ts";

describe("access requests", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let newcomer: string;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    const root = server.groupUid;
    await createGroup(server, "engineering", root);
    await bindRole(server, "owner", "owner");
    newcomer = await createResource(server, `roles/${root}`, {
      name: "newcomer",
      capabilities: ["CAP_IAM_GROUPS_LIST"],
    });
    await addRule({ name: "on-call", roleUids: [builtInRoleUid("viewer")], reasonPattern: "INC-[0-9]+" });
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function addRule(rule: Record<string, unknown>): Promise<void> {
    const path = `/access/v1/requestRules/${server.groupUid}`;
    const body = { eligibleRoleUids: [newcomer], maxDuration: "14400s", ...rule };
    const made = await rest(server.url, server.ownerToken, "POST", path, body);
    assert.equal(made.status, 200, JSON.stringify(made.body));
  }

  const uidOf = (name: string) => userUid(`${server.config.baseUrl}/development/login`, name);

  /** Adds a person who may list groups, and nothing else. */
  async function addNewcomer(name: string): Promise<string> {
    const identityUid = uidOf(name);
    await createResource(server, `roleBindings/${server.groupUid}`, { identityUid, roleUid: newcomer });
    await arrange(server, (tx) => insertMembership(tx, { identityUid, groupUid: server.groupUid }));
    return identityUid;
  }

  async function open(as: string, path: string, options: { readonly dark?: boolean } = {}): Promise<ConsolePage> {
    const console = await openConsoleAs(browser, server, as, { path: `/console${path}`, ...options });
    await console.page.getByRole("heading", { level: 1 }).waitFor();
    return console;
  }

  const inOrg = (path: string) => `/o/${server.groupUid}/${path}`;

  /** Returns the complaint of the browser about a call that was rejected. */
  const rejected = (method: string) =>
    `Failed to load resource: the server responded with a status of 400 (Bad Request): ${server.url}/gatehouse.access.v1.${method}`;

  /** Requests the role viewer by the form of the view. */
  async function request(page: Page, reason: string): Promise<void> {
    await page.goto(`${server.url}/console${inOrg("requests/?tab=mine&dialog=new")}`);
    const dialog = page.getByRole("dialog", { name: "Request a role" });
    await dialog.getByLabel("Reason").fill(reason);
    await dialog.getByRole("button", { name: "Request role" }).click();
    await dialog.waitFor({ state: "detached" });
  }

  it("a denied person requests a role, another one approves it, and it is given back", async () => {
    await addNewcomer("mia");
    await using requester = await open("mia", inOrg("people/"));
    const { page } = requester;
    await page.getByText("You may not see this").waitFor();
    await page.getByRole("button", { name: "Request a role" }).click();
    const dialog = page.getByRole("dialog", { name: "Request a role" });
    await dialog.getByText("One person must approve.").waitFor();
    await dialog.getByLabel("For how long").selectOption({ label: "2 hours" });
    await dialog.getByLabel("Reason").fill("INC-4711");
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Request role" }).click();
    await page.getByText("Requested", { exact: true }).waitFor();

    await using approver = await open("owner", inOrg("overview"));
    await approver.page.getByRole("link", { name: /^Access requests 1 waits for your decision$/ }).click();
    const row = approver.page.locator("tr[data-key]").filter({ hasText: "INC-4711" });
    await row.getByRole("link", { name: "viewer at example.org" }).waitFor();
    await row.getByText("2 hours").waitFor();
    assert.deepEqual(await findProblems(approver.page), []);
    await row.getByRole("button", { name: "Approve" }).click();
    const decision = approver.page.getByRole("dialog", { name: "Approve viewer at example.org" });
    await decision.getByText("INC-4711").waitFor();
    await decision.getByLabel("Comment").fill("seen the page");
    assert.deepEqual(await findProblems(approver.page), []);
    await decision.getByRole("button", { name: "Approve" }).click();
    await approver.page.getByText("Request approved").waitFor();
    await approver.page.getByText("No request waits for your decision.").waitFor();

    await page.reload();
    await page.getByRole("link", { name: "owner", exact: true }).first().waitFor();
    const banner = page.getByRole("region", { name: "Your roles with an end" });
    await banner.getByText("viewer at example.org ends in 2 hours").waitFor();
    assert.equal(await banner.getByRole("button", { name: "Request again" }).count(), 0);
    assert.deepEqual(await findProblems(page), []);
    await banner.getByRole("button", { name: "Give back" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Give back" }).click();
    await page.getByText("You may not see this").waitFor();
    await banner.waitFor({ state: "detached" });
    assert.deepEqual([...requester.complaints, ...approver.complaints], []);
  });

  it("a request is cancelled by its requester, and denied with a comment that the requester sees", async () => {
    await addNewcomer("noa");
    await using requester = await open("noa", "/me", { dark: true });
    const { page } = requester;
    const card = page.getByRole("region", { name: "Access for a time" });
    await card.getByRole("button", { name: "Request a role" }).click();
    const dialog = page.getByRole("dialog", { name: "Request a role" });
    await dialog.getByRole("combobox", { name: "Group" }).fill("engin");
    await page.getByRole("option", { name: /engineering/ }).click();
    await dialog.getByLabel("Reason").fill("no ticket");
    await dialog.getByRole("button", { name: "Request role" }).click();
    await dialog
      .getByText(/INC-\[0-9\]\+/)
      .nth(1)
      .waitFor();
    await dialog.getByLabel("Reason").fill("INC-1");
    await dialog.getByRole("button", { name: "Request role" }).click();
    await card.getByText("Pending").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await card.getByRole("button", { name: "Cancel request" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel request" }).click();
    await card.getByText("Cancelled").waitFor();

    await request(page, "INC-2");
    const rows = page.locator("tr[data-key]").filter({ hasText: "INC-2" });
    await rows.getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "viewer at example.org" }).waitFor();
    await page.getByRole("button", { name: "Cancel request" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
    const address = new URL(page.url()).pathname.replace("/console", "");

    await using approver = await open("owner", address);
    await approver.page.getByRole("button", { name: "Deny" }).click();
    const decision = approver.page.getByRole("dialog", { name: "Deny viewer at example.org" });
    await decision.getByLabel("Comment").fill("not tonight");
    await decision.getByRole("button", { name: "Deny" }).click();
    await approver.page.getByText("Request denied").waitFor();
    await approver.page.getByText("not tonight").waitFor();
    assert.deepEqual(await findProblems(approver.page), []);
    await approver.page.goto(`${server.url}/console${inOrg("requests/?tab=all")}`);
    await approver.page.getByLabel("Status").selectOption({ label: "Cancelled" });
    await approver.page.getByText("INC-1").waitFor();
    assert.equal(await approver.page.getByText("INC-2").count(), 0);
    assert.deepEqual(await findProblems(approver.page), []);

    await page.reload();
    await page.getByText("not tonight").waitFor();
    assert.equal(await page.getByRole("button", { name: "Cancel request" }).count(), 0);
    const expected = [rejected("AccessRequestsService/CreateAccessRequest")];
    assert.deepEqual([...requester.complaints, ...approver.complaints], expected);
  });

  it("a role that ends soon can be requested again, and the page shows less at its end", async () => {
    const identityUid = await addNewcomer("kim");
    await addRule({ name: "at once", roleUids: [builtInRoleUid("viewer")], requiredApprovals: 0 });
    await using console = await open("kim", inOrg("people/"));
    const { page, complaints } = console;
    await request(page, "looking at the build");
    const banner = page.getByRole("region", { name: "Your roles with an end" });
    await banner.getByText("viewer at example.org ends in 1 hour").waitFor();
    const { body } = await rest(
      server.url,
      server.ownerToken,
      "GET",
      `/access/v1/roleBindingTerms?identity=${identityUid}`,
    );
    await arrange(server, async (tx) => {
      const row = (await findRow(tx, roleBindingCollection, body.terms[0].uid))!;
      await updateRow(tx, roleBindingCollection, row, { ...row, expireTime: Date.now() + 20_000 });
    });
    await page.goto(`${server.url}/console${inOrg("people/")}`);
    await page.getByRole("link", { name: "kim", exact: true }).waitFor();
    await banner.getByRole("button", { name: "Request again" }).click();
    const dialog = page.getByRole("dialog", { name: "Request a role" });
    assert.equal(await dialog.getByLabel("Reason").inputValue(), "looking at the build");
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press("Escape");
    await page.getByText("You may not see this").waitFor({ timeout: 25_000 });
    await banner.waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);
  });

  it("a person takes a role by break-glass, which is a finding until another person acknowledges it", async () => {
    await addNewcomer("lea");
    await addRule({ name: "emergency", roleUids: [builtInRoleUid("editor")], breakGlass: true });
    await using requester = await open("lea", inOrg("requests/?tab=mine&dialog=new"));
    const { page } = requester;
    const dialog = page.getByRole("dialog", { name: "Request a role" });
    await dialog.getByLabel("Role", { exact: true }).selectOption({ label: "editor at example.org (emergency)" });
    await dialog.getByText("One person must approve.").waitFor();
    await dialog.getByLabel("Emergency: take the role without approvals").check();
    await dialog.getByText("You get the role at once.").waitFor();
    await dialog.getByLabel("Reason").fill("INC-9");
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Take role" }).click();
    await page.getByText("Role given").waitFor();
    await page.getByText("break-glass, not acknowledged").first().waitFor();

    await using approver = await open("owner", inOrg("overview"));
    const finding = approver.page.getByRole("region", { name: "1 role was taken by break-glass" });
    await finding.getByText("Took the role editor without approvals. Reason: INC-9").waitFor();
    await finding.getByRole("button", { name: "Acknowledge" }).waitFor();
    assert.deepEqual(await findProblems(approver.page), []);
    await approver.page.getByRole("link", { name: /^Access requests 1 waits for your decision$/ }).click();
    const row = approver.page.locator("tr[data-key]").filter({ hasText: "INC-9" });
    await row.getByRole("button", { name: "Acknowledge" }).click();
    const decision = approver.page.getByRole("dialog", { name: "Acknowledge editor at example.org" });
    await decision.getByLabel("Comment").fill("seen the incident");
    assert.deepEqual(await findProblems(approver.page), []);
    await decision.getByRole("button", { name: "Acknowledge" }).click();
    await approver.page.getByText("Acknowledged", { exact: true }).waitFor();
    await approver.page.getByText("No request waits for your decision.").waitFor();

    await page.locator("tr[data-key]").filter({ hasText: "INC-9" }).getByRole("link").first().click();
    await page.getByText("seen the incident").waitFor();
    await page.getByText("Acknowledged by").waitFor();
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual([...requester.complaints, ...approver.complaints], []);
  });

  it("rules are created, changed and deleted", async () => {
    await using console = await open("owner", inOrg("requests/?tab=rules"));
    const { page, complaints } = console;
    await page.locator("tr[data-key]").filter({ hasText: "on-call" }).getByText("newcomer").waitFor();
    await page.keyboard.press("n");
    const create = page.getByRole("dialog", { name: "New rule" });
    await create.getByLabel("Name").fill("releases");
    await create.getByRole("combobox", { name: "Roles that can be requested" }).fill("editor");
    await page.getByRole("option", { name: "editor", exact: true }).click();
    await create.getByRole("button", { name: "editor Remove" }).waitFor();
    await create.getByLabel("For at most").selectOption({ label: "2 hours" });
    await create.getByRole("button", { name: "Create rule" }).click();
    await create
      .getByText(/is required, or eligible_identity_uids|eligible/)
      .first()
      .waitFor();
    await create.getByRole("combobox", { name: "Holders of these roles may request" }).fill("newcomer");
    await page.getByRole("option", { name: /newcomer/ }).click();
    await create.getByLabel("Approvals that are needed").selectOption({ label: "2 approvals" });
    assert.deepEqual(await findProblems(page), []);
    await create.getByRole("button", { name: "Create rule" }).click();
    await page.getByText("Rule releases created").waitFor();
    const row = page.locator("tr[data-key]").filter({ hasText: "releases" });
    await row.getByText("2 approvals").waitFor();
    await row.getByText("2 hours").waitFor();
    assert.deepEqual(await findProblems(page), []);

    await row.getByRole("button", { name: "Actions for releases" }).click();
    await page.getByRole("menuitem", { name: "Edit rule" }).click();
    const edit = page.getByRole("dialog", { name: "Edit rule releases" });
    assert.equal(await edit.getByRole("button", { name: "Save changes" }).isDisabled(), true);
    await edit.getByLabel("Approvals that are needed").selectOption({ label: "None: given at once" });
    await edit.getByLabel("Pattern for reasons").fill("REL-[0-9]+");
    await edit.getByRole("button", { name: "Save changes" }).click();
    await page.getByText("Rule releases saved").waitFor();
    await row.getByText("None: given at once").waitFor();

    await row.getByRole("button", { name: "Actions for releases" }).click();
    await page.getByRole("menuitem", { name: "Delete rule" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete rule" }).click();
    await page.getByText("Rule releases deleted").waitFor();
    await row.waitFor({ state: "detached" });
    const expected = [rejected("AccessRequestRulesService/CreateAccessRequestRule")];
    assert.deepEqual(complaints, expected);
  });
});
