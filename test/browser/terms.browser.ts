// The ends of roles in a real browser, and the list of unused access.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { accessRecording } from "../../src/storage/iam/access-usage.ts";
import { insertMembership } from "../../src/storage/iam/memberships.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { until } from "../harness/until.ts";
import { addGroup, addIdentity, arrange, bind } from "../security/tree.ts";
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

const dayMs = 24 * 3_600_000;

describe("roles with a term, and unused access", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let engineering: string;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    engineering = await createGroup(server, "engineering", server.groupUid);
    await bindRole(server, "owner", "owner");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** Adds a workload with a role at the group, and returns the uid of its role binding. */
  async function addWorkload(name: string, role: string, term: Record<string, string> = {}): Promise<string> {
    const identityUid = await createResource(server, `identities/${server.groupUid}`, {
      name,
      claimMatch: { issuer: "https://issuer.example.org", subject: name },
    });
    if (Object.keys(term).length > 0) return await give(engineering, identityUid, role, term);
    return await createResource(server, `roleBindings/${engineering}`, { identityUid, roleUid: builtInRoleUid(role) });
  }

  /** Gives a role for a time, by REST. */
  async function give(parent: string, identityUid: string, role: string, term: Record<string, string>) {
    const given = await rest(server.url, server.ownerToken, "POST", `/access/v1/roleBindingTerms/${parent}`, {
      identityUid,
      roleUid: builtInRoleUid(role),
      ...term,
    });
    assert.equal(given.status, 200, JSON.stringify(given.body));
    return given.body.uid as string;
  }

  async function openAccess(
    query: string,
    options: { readonly as?: string; readonly dark?: boolean } = {},
  ): Promise<ConsolePage> {
    const { as = "owner", ...rest } = options;
    const path = `/console/o/${server.groupUid}/access?group=${engineering}${query}`;
    const console = await openConsole(browser, server, { path, ...rest });
    await signIn(console.page, as);
    await console.page.getByRole("heading", { level: 1 }).waitFor();
    return console;
  }

  const rowOf = (page: Page, name: string) => page.locator("tr[data-key]").filter({ hasText: name });

  it("sets, changes and removes the end of a role binding", async () => {
    await addWorkload("builder", "editor");
    await using console = await openAccess("");
    const { page, complaints } = console;
    const row = rowOf(page, "builder");
    await row.getByRole("button", { name: "editor here" }).click();
    await page.getByRole("menuitem", { name: "Set end" }).click();
    const dialog = page.getByRole("dialog", { name: "End of editor of builder at engineering" });
    assert.equal(await dialog.getByRole("button", { name: "Remove end" }).isDisabled(), true);
    await dialog.getByLabel("Ends").selectOption({ label: "in 8 hours" });
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Set end" }).click();
    await page.getByText("End set").waitFor();
    await row.getByText("ends in 8 hours").waitFor();
    await page.getByLabel("Only with an end").check();
    await rowOf(page, "owner@example.org").waitFor({ state: "detached" });
    await row.getByText("ends in 8 hours").waitFor();
    assert.match(page.url(), /timed=yes/);
    assert.deepEqual(await findProblems(page), []);
    await page.getByLabel("Only with an end").uncheck();
    await rowOf(page, "owner@example.org").waitFor();

    await row.getByRole("button", { name: "editor here" }).click();
    await page.getByRole("menuitem", { name: "Change end" }).click();
    await dialog.getByLabel("End", { exact: true }).fill("2020-01-01T00:00");
    await dialog.getByText("Choose a time from a minute to 5 years ahead.").waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Change end" }).isDisabled(), true);
    await dialog.getByLabel("Ends").selectOption({ label: "Without an end" });
    await dialog.getByRole("button", { name: "Remove end" }).click();
    await page.getByText("End removed").waitFor();
    await row.getByText("ends in 8 hours").waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);
  });

  it("gives a role for a time, and lists it with the roles that begin later", async () => {
    const identityUid = await createResource(server, `identities/${server.groupUid}`, {
      name: "nightly",
      claimMatch: { issuer: "https://issuer.example.org", subject: "nightly" },
    });
    const startTime = new Date(Date.now() + 3 * dayMs).toISOString();
    await addWorkload("migration", "viewer", { startTime, ttl: "86400s" });
    await using console = await openAccess(`&tab=terms&dialog=grant&identity=${identityUid}`);
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog", { name: "Grant access" });
    await dialog.getByRole("combobox", { name: "Role" }).fill("editor");
    await page.getByRole("option", { name: "editor", exact: true }).click();
    await dialog.getByLabel("Ends").selectOption({ label: "in 1 hour" });
    await dialog.getByText("+ Gains").waitFor();
    await dialog.getByRole("button", { name: "Grant role" }).click();
    await page.getByText("Role granted").waitFor();
    await rowOf(page, "nightly").getByText("ends in 1 hour").waitFor();
    await rowOf(page, "migration").getByText("begins in 3 days").waitFor();
    assert.deepEqual(await findProblems(page), []);

    await page.getByLabel("Ends").selectOption({ label: "Begins later" });
    await rowOf(page, "nightly").waitFor({ state: "detached" });
    await rowOf(page, "migration").waitFor();
    await page.getByLabel("Ends").selectOption({ label: "Within a day" });
    await rowOf(page, "migration").waitFor({ state: "detached" });
    assert.match(page.url(), /ends=day/);

    await page.getByLabel("Select nightly · editor").check();
    await page.getByRole("button", { name: "Set ends" }).click();
    const bulk = page.getByRole("dialog", { name: "End of 1 role" });
    await bulk.getByLabel("Ends").selectOption({ label: "in 30 days" });
    assert.deepEqual(await findProblems(page), []);
    await bulk.getByRole("button", { name: "Set end" }).click();
    await bulk.getByText("1 of 1 done").waitFor();
    await page.keyboard.press("Escape");
    await rowOf(page, "nightly").waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);
  });

  it("says at the field that an end is later than that of one's own role", async () => {
    await addWorkload("deployer", "viewer", { ttl: "3600s" });
    const identityUid = userUid(`${server.config.baseUrl}/development/login`, "tess");
    await give(server.groupUid, identityUid, "owner", { ttl: "7200s" });
    await arrange(server, (tx) => insertMembership(tx, { identityUid, groupUid: server.groupUid }));
    await using console = await openAccess("&tab=terms", { as: "tess", dark: true });
    const { page, complaints } = console;
    await page.getByRole("button", { name: "Actions for viewer · deployer" }).click();
    await page.getByRole("menuitem", { name: "Change end" }).click();
    const dialog = page.getByRole("dialog", { name: "End of viewer of deployer at engineering" });
    await dialog.getByLabel("Ends").selectOption({ label: "in 7 days" });
    await dialog.getByText("This would last longer than your own access. Choose an earlier end.").waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Change end" }).isDisabled(), true);
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByLabel("Ends").selectOption({ label: "in 1 hour" });
    await dialog.getByRole("button", { name: "Change end" }).click();
    await page.getByText("End set").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("lists roles that nobody used, with advice and its evidence, and removes them", async () => {
    const now = Date.now();
    const at = (daysAgo: number) => ({ server: server.server, clock: () => now - daysAgo * dayMs });
    const legacy = await addGroup(at(300), server.groupUid, "legacy");
    await until("the recording", () => accessRecording.since(server.server.database.session));
    await arrange(server, accessRecording.end);
    for (let day = 120; day >= 0; day--) await arrange(at(day), accessRecording.note);
    for (const role of ["viewer", "editor"])
      await bind(at(200), legacy, await addIdentity(at(250), legacy), builtInRoleUid(role));
    await bind(at(10), legacy, await addIdentity(at(250), legacy), builtInRoleUid("registry.pull"));

    const path = `/console/o/${server.groupUid}/access?tab=unused&group=${legacy}`;
    await using console = await openConsole(browser, server, { path });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const early = rowOf(page, "registry.pull");
    await early.getByText("Too early").waitFor();
    await early.getByText(/^Uses are known since .* only\.$/).waitFor();
    const old = rowOf(page, "editor");
    await old.getByText("Remove", { exact: true }).waitFor();
    await old.getByText("No use in 90 days, all of which are known.").waitFor();
    await old.getByText("never seen").waitFor();
    assert.deepEqual(await findProblems(page), []);

    await page.getByLabel("Not used for").selectOption({ label: "7 days" });
    await early.getByText("Remove", { exact: true }).waitFor();
    await old.getByRole("button", { name: /^Actions for editor/ }).click();
    await page.getByRole("menuitem", { name: "Revoke role binding" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke role binding" }).click();
    await page.getByText("Role binding revoked").waitFor();
    await old.waitFor({ state: "detached" });

    await page.getByLabel("Select all on this page").check();
    await page.getByRole("button", { name: "Remove roles" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove roles" }).click();
    await page.getByText("2 of 2 done").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Each role was used.").waitFor();
    assert.deepEqual(complaints, []);
  });
});
