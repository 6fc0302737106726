// Names instead of uids: the palette finds people and resources by any word, and a field finds the person who gets a role.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create as createMessage } from "@bufbuild/protobuf";
import type { Browser, Page } from "playwright-core";
import { AdvisorySchema } from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { insertAdvisory } from "../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addPerson, arrange } from "../security/tree.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, findProblems, openConsole, signIn } from "./console.ts";

describe("names in the console", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let payments = "";
  let ana = "";
  let otherAna = "";
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    payments = await createGroup(server, "payments", server.groupUid);
    await bindRole(server, "owner", "owner");
    await bindRole(server, "viewer", "viewer");
    ana = await addPerson(server, "ana lopez", "ana@example.org", server.groupUid);
    otherAna = await addPerson(server, "ana lopez", "ana.l@example.org", server.groupUid);
    await addPerson(server, "guest lopez", "guest@secret.example", undefined);
    const orders = await createGroup(server, "orders", server.groupUid);
    for (const group of [payments, orders]) await create(`/registry/v2beta1/repos/${group}`, { name: "billing-api" });
    await create(`/events/v2beta1/subscriptions/${payments}`, { sink: "https://hooks.example.com/gatehouse" });
    const advisory = createMessage(AdvisorySchema, { advisoryId: "CVE-2031-4711", artifactName: "nginx" });
    await arrange(server, (tx) => insertAdvisory(tx, payments, advisory));
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function create(path: string, body: object): Promise<void> {
    const response = await rest(server.url, server.ownerToken, "POST", path, body);
    assert.equal(response.status, 200, JSON.stringify(response.body));
  }

  /** Returns the names of the roles of a person. */
  async function rolesOf(uid: string): Promise<string[]> {
    const { body } = await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/roleBindings?identity=${uid}`);
    return (body.roleBindings ?? []).map((one: { readonly role: { readonly name: string } }) => one.role.name);
  }

  const overview = () => `/console/o/${server.groupUid}/overview`;
  const palette = (page: Page) => page.getByRole("dialog", { name: "Jump to" });

  async function search(page: Page, words: string): Promise<void> {
    if ((await palette(page).count()) === 0) await page.keyboard.press("Control+k");
    await palette(page).getByRole("combobox").fill(words);
  }

  it("the palette finds a person by surname, a CVE, a package, repos of one name by its second word, and a webhook by its host", async () => {
    await using console = await openConsole(browser, server, { path: overview() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: /Overview/ }).waitFor();
    for (const [words, option] of [
      ["lopez", /ana lopez.*person · ana@example\.org/],
      ["cve-2031-4711", /CVE-2031-4711.*advisory · example\.org \/ payments/],
      ["nginx", /nginx.*package/],
      ["api", /billing-api.*repo · example\.org \/ orders/],
      ["api", /billing-api.*repo · example\.org \/ payments/],
      ["hooks.example", /hooks\.example\.com.*subscription/],
    ] as const) {
      await search(page, words);
      await palette(page).getByRole("option", { name: option }).waitFor();
    }
    await search(page, "lopez");
    await palette(page)
      .getByRole("option", { name: /ana\.l@example\.org/ })
      .waitFor();
    assert.equal(await palette(page).getByRole("option", { name: /guest/ }).count(), 0, "has not joined");
    assert.deepEqual(await findProblems(page), []);
    await palette(page)
      .getByRole("option", { name: /person · ana@example/ })
      .click();
    await page.getByRole("heading", { name: "ana lopez" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("who may not list role bindings finds no person", async () => {
    const person = await addPerson(server, "reader", "reader@example.org", server.groupUid);
    assert.ok(person);
    await bindRole(server, "puller", "registry.pull");
    await using console = await openConsole(browser, server, { path: overview() });
    const { page, complaints } = console;
    await signIn(page, "puller");
    await page.getByRole("heading", { name: /Overview/ }).waitFor();
    await search(page, "lopez");
    await palette(page).getByText("Nothing has these words.").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("a role is granted to a person by three letters of their name, with six actions of the mouse", async () => {
    await using console = await openConsole(browser, server, { path: overview() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("button", { name: "Grant access" }).click();
    const dialog = page.getByRole("dialog", { name: "Grant access" });
    await dialog.getByRole("combobox", { name: "Identity" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.type("ana");
    await dialog.getByRole("option", { name: /ana\.l@example\.org/ }).click();
    await dialog.getByRole("combobox", { name: "Role" }).click();
    await dialog.getByRole("option", { name: "registry.pull", exact: true }).click();
    await dialog.getByText("repo.blobs.get").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Grant role" }).click();
    await page.getByText("Role granted").waitFor();
    assert.equal((await rolesOf(otherAna)).includes("registry.pull"), true);
    assert.deepEqual(complaints, []);
  });

  it("a role is granted to a person by Ctrl K and three letters of their name, without a mouse", async () => {
    await using console = await openConsole(browser, server, { path: overview() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: /Overview/ }).waitFor();
    const focused = (name: string) => page.getByRole("combobox", { name }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Control+k");
    await focused("Search or jump to …");
    await page.keyboard.type("grant");
    await palette(page)
      .getByRole("option", { name: /^Grant access/, selected: true })
      .waitFor();
    await page.keyboard.press("Enter");
    await focused("Identity");
    await page.keyboard.type("ana");
    await page.getByRole("option", { name: /ana@example\.org/ }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await focused("Role");
    await page.keyboard.type("upload");
    await page.getByRole("option", { name: /^registry\.push/ }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "What would change" }).getByText("Gains").waitFor();
    await page.keyboard.press("Control+Enter");
    await page.getByText("Role granted").waitFor();
    // Both have the same name: the first of them got it.
    const roles = [...(await rolesOf(ana)), ...(await rolesOf(otherAna))];
    assert.ok(roles.includes("registry.push"), roles.join(" "));
    assert.deepEqual(complaints, []);
  });

  it("an action, a capability and a role are found by other words for them, in English and German", async () => {
    await using console = await openConsole(browser, server, { path: overview() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: /Overview/ }).waitFor();
    await search(page, "off-board");
    await palette(page)
      .getByRole("option", { name: /^Remove from organization/ })
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "People" }).waitFor();
    await page.goto(`${server.url}/console/o/${server.groupUid}/access?dialog=grant`);
    const role = page.getByRole("dialog").getByRole("combobox", { name: "Role" });
    await role.fill("upload");
    await page.getByRole("option", { name: /^registry\.push/ }).click();
    assert.equal(await role.inputValue(), "registry.push");
    await page.goto(`${server.url}/console/o/${server.groupUid}/access`);
    const capability = page.getByRole("combobox", { name: "Capability" }).first();
    await capability.fill("hochladen");
    await page.getByRole("option", { name: /^tag\.create/ }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole("option", { name: /^tag\.create/ }).click();
    await page.waitForURL(/capability=tag\.create/);
    assert.deepEqual(complaints, []);
  });

  it("an unknown address can be invited from the field", async () => {
    await using console = await openConsole(browser, server, {
      path: `/console/o/${server.groupUid}/access?dialog=grant`,
    });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: "Identity" }).fill("new@example.net");
    await dialog.getByRole("option", { name: "Invite new@example.net" }).click();
    await page.getByRole("heading", { name: "Sign-in" }).waitFor();
    assert.equal(
      await page
        .getByRole("dialog")
        .getByLabel(/^E-mail address/)
        .inputValue(),
      "new@example.net",
    );
    assert.deepEqual(complaints, []);
  });
});
