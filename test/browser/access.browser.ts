// The view Access in a real browser: who may do what here, what an identity may do, why, and what changes would do.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
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
import { untilQuiet } from "./quiet.ts";

describe("the view Access", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let [engineering, security, ci, bot, ciBinding] = ["", "", "", "", ""];
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    const root = server.groupUid;
    engineering = await createGroup(server, "engineering", root);
    security = await createGroup(server, "security", root);
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    ci = await createIdentity("ci", root, "repo:acme/app:ref:refs/heads/main");
    bot = await createIdentity("former-bot", security, "bot");
    ciBinding = await bind(engineering, ci, builtInRoleUid("registry.push"));
    await bind(root, bot, builtInRoleUid("editor"));
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const createIdentity = (name: string, parent: string, subject: string) =>
    createResource(server, `identities/${parent}`, {
      name,
      claimMatch: { issuer: "https://issuer.example.org", subject },
    });
  const bind = (parent: string, identityUid: string, roleUid: string) =>
    createResource(server, `roleBindings/${parent}`, { identityUid, roleUid });

  /** Opens the view, and signs in. */
  async function openAccess(
    query = "",
    options: { readonly as?: string; readonly width?: number; readonly dark?: boolean } = {},
  ): Promise<ConsolePage> {
    const { as = "owner", ...rest } = options;
    const path = `/console/o/${server.groupUid}/access${query}`;
    const console = await openConsole(browser, server, { path, ...rest });
    await signIn(console.page, as);
    await console.page.getByRole("heading", { level: 1 }).waitFor();
    return console;
  }

  const rowOf = (page: Page, name: string) => page.locator("tr[data-key]").filter({ hasText: name });

  it("shows what each identity may do at a group, and why", async () => {
    await using console = await openAccess(`?group=${engineering}`);
    const { page, complaints } = console;
    const row = rowOf(page, "ci");
    await row.getByText("registry.push here").waitFor();
    await row.getByRole("button", { name: "ci, Events: none. Why?" }).waitFor();
    await row.getByRole("button", { name: /^ci, Registry: \d+ of \d+\. Why\?$/ }).click();
    const panel = page.getByRole("dialog", { name: "Registry of ci at engineering" });
    await panel.getByText(/^ci has \d+ of \d+ capabilities of Registry at engineering\.$/).waitFor();
    await panel.getByRole("heading", { name: /^granted/ }).waitFor();
    await panel.getByText("Create repos").waitFor();
    await panel.getByText("None of the roles that are bound here or above has the capability.").waitFor();
    assert.match(page.url(), /area=registry/);
    await page.reload();
    await panel.getByText("Create repos").waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);
  });

  it("leads from a binding to its role and its group", async () => {
    await using console = await openAccess(`?group=${engineering}`);
    const { page, complaints } = console;
    await rowOf(page, "ci")
      .getByRole("button", { name: /registry\.push here/ })
      .click();
    await page.getByRole("menuitem", { name: "Open group engineering" }).waitFor();
    await page.getByRole("menuitem", { name: "Open role registry.push" }).click();
    await page.getByRole("heading", { name: "registry.push" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("filters by capability and identity, and shows confined identities on request", async () => {
    await using console = await openAccess(`?group=${engineering}`);
    const { page, complaints } = console;
    await rowOf(page, "ci").waitFor();
    assert.equal(await rowOf(page, "former-bot").count(), 0);
    await page.getByLabel("Show roles without effect").check();
    const row = rowOf(page, "former-bot");
    await row.getByRole("button", { name: "former-bot, Registry: confined. Why?" }).click();
    const panel = page.getByRole("dialog");
    await panel.getByText("Role bindings outside of it do not count").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("combobox", { name: "Capability" }).fill("groups.delete");
    await page.getByRole("option", { name: /groups\.delete/ }).click();
    await rowOf(page, "ci").waitFor({ state: "detached" });
    assert.match(page.url(), /capability=groups\.delete/);
    await page.getByRole("combobox", { name: "Identity" }).fill("ci");
    await page.getByRole("option", { name: /ci/ }).click();
    await page.getByText("Nobody has access that matches.").waitFor();
    assert.ok(page.url().includes(`identity=${encodeURIComponent(ci)}`));
    assert.deepEqual(complaints, []);
  });

  it("shows what an identity may do, as a tree", async () => {
    await using console = await openAccess(`?tab=identity&identity=${bot}`);
    const { page, complaints } = console;
    const tree = page.getByRole("list", { name: "Roles of the identity" });
    await tree.getByText("confined to this subgroup").waitFor();
    await tree.getByRole("link", { name: "security" }).waitFor();
    assert.equal(await tree.getByRole("link", { name: "engineering" }).count(), 0);
    await tree.getByRole("link", { name: "security" }).click();
    await rowOf(page, "former-bot").getByText("editor at example.org ↑").waitFor();
    await page.getByRole("link", { name: "What an identity may do" }).click();
    await page.getByRole("list", { name: "Roles of the identity" }).getByText("owner").first().waitFor();
    assert.deepEqual(complaints, []);
  });

  it("answers whether an identity has a capability at a group", async () => {
    await using console = await openAccess(`?tab=ask&identity=${ci}&group=${engineering}&capability=repo.create`);
    const { page, complaints } = console;
    await page.getByRole("heading", { name: "ci has repo.create at engineering" }).waitFor();
    await page.getByRole("combobox", { name: "Capability" }).fill("groups.del");
    await page.getByRole("option", { name: /groups\.delete/ }).click();
    await page.getByRole("heading", { name: "ci does not have groups.delete at engineering" }).waitFor();
    await page.getByText("None of the roles that are bound here or above has the capability.").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("grants, changes and revokes a role, and says before what would change", async () => {
    const tool = await createIdentity("tool", server.groupUid, "tool");
    await using console = await openAccess(`?group=${security}&dialog=grant&identity=${tool}`);
    const { page, complaints } = console;
    const grant = page.getByRole("dialog", { name: "Grant access" });
    await grant.getByRole("combobox", { name: "Role" }).fill("registry.pull");
    await page.getByRole("option", { name: "registry.pull", exact: true }).click();
    const preview = grant.getByRole("region", { name: "What would change" });
    await preview.getByText("+ Gains").waitFor();
    await preview.getByText("at security", { exact: true }).waitFor();
    await grant.getByRole("button", { name: "Grant role" }).click();
    await page.getByText("Role granted").waitFor();
    await rowOf(page, "tool")
      .getByRole("button", { name: /registry\.pull here/ })
      .click();

    await page.getByRole("menuitem", { name: "Change role" }).click();
    const change = page.getByRole("dialog", { name: "Change registry.pull of tool at security" });
    await change.getByRole("combobox", { name: "Role" }).fill("apk.pull");
    await page.getByRole("option", { name: /apk\.pull/ }).click();
    await change.getByText("− Loses").waitFor();
    await change.getByText("+ Gains").waitFor();
    await change.getByRole("button", { name: "Change role" }).click();
    await page.getByText("Role changed").waitFor();

    await rowOf(page, "tool")
      .getByRole("button", { name: /apk\.pull here/ })
      .click();
    await page.getByRole("menuitem", { name: "Revoke role binding" }).click();
    const revoke = page.getByRole("dialog", { name: "Revoke apk.pull of tool at security" });
    await revoke.getByText("− Loses").waitFor();
    await revoke.getByRole("button", { name: "Copy as" }).click();
    await page.getByRole("menuitem", { name: "curl", exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await revoke.getByRole("button", { name: "Revoke role binding" }).click();
    await page.getByText("Role binding revoked").waitFor();
    await page.getByText("Nobody has access that matches.").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("says what stands in the way before the button is pressed", async () => {
    await using console = await openAccess(`?group=${engineering}&dialog=grant&identity=${ci}`);
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog", { name: "Grant access" });
    await dialog.getByRole("combobox", { name: "Role" }).fill("registry.push");
    await page.getByRole("option", { name: /registry\.push/ }).click();
    await dialog.getByText("This stands in the way:").waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Grant role" }).isDisabled(), true);
    assert.deepEqual(complaints, []);
  });

  it("does not revoke the last owner, and says so", async () => {
    await using other = await startTestServer();
    await bindRole(other, "owner", "owner");
    await using console = await openConsole(browser, other, { path: `/console/o/${other.groupUid}/access` });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("table").waitFor();
    const path = `/iam/v2beta1/roleBindings?role=${builtInRoleUid("owner")}&identity=`;
    const bindingOf = async (uid: string) =>
      (await rest(other.url, other.ownerToken, "GET", path + uid)).body.roleBindings[0].uid;
    const mine = await bindingOf(userUid(`${other.config.baseUrl}/development/login`, "owner"));
    const theirs = await bindingOf(other.ownerUid);
    assert.equal(
      (await rest(other.url, other.ownerToken, "DELETE", `/iam/v2beta1/roleBindings/${theirs}`)).status,
      200,
    );
    await page.goto(`${other.url}/console/o/${other.groupUid}/access?dialog=revoke&binding=${mine}`);
    const dialog = page.getByRole("dialog");
    await dialog.getByText("LAST_OWNER").waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Revoke role binding" }).isDisabled(), true);
    assert.deepEqual(complaints, []);
  });

  it("grants, changes and revokes a role by keyboard alone", async () => {
    await using console = await openAccess(`?group=${engineering}`);
    const { page, complaints } = console;
    const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')");
    await rowOf(page, "ci").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await rowOf(page, "owner").first().waitFor();
    await page.locator("tr[data-key]").first().focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    assert.match(String(await focused()), /, Identities: /);
    await page.keyboard.press("ArrowDown");
    assert.match(String(await focused()), /, Identities: /);
    const cell = await focused();
    await page.keyboard.press("w");
    await page.getByRole("dialog", { name: /^Identities of/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.locator(`[aria-label="${cell}"]:focus`).waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("n");
    await page.getByRole("dialog", { name: "Grant access" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);
  });

  it("lets a viewer look, makes no call that is denied, and says what is missing", async () => {
    await using console = await openAccess(`?group=${engineering}`, { as: "viewer" });
    const { page, complaints } = console;
    const grant = page.getByRole("button", { name: "Grant access" });
    assert.equal(await grant.getAttribute("aria-disabled"), "true");
    await grant.focus();
    await page
      .getByText(/You lack role_bindings\.create/)
      .first()
      .waitFor();
    await rowOf(page, "ci")
      .getByRole("button", { name: /registry\.push here/ })
      .click();
    await page.getByRole("menuitem", { name: "Open role registry.push" }).waitFor();
    assert.equal(await page.getByRole("menuitem", { name: "Revoke role binding" }).count(), 0);
    await page.keyboard.press("Escape");
    for (const query of [`dialog=revoke&binding=${ciBinding}`, "dialog=grant", `tab=identity&identity=${ci}`]) {
      await page.goto(`${server.url}/console/o/${server.groupUid}/access?${query}`);
      await page.getByRole("heading", { name: "Who can do what" }).waitFor();
      await untilQuiet(page);
      assert.equal(await page.getByRole("dialog").count(), 0);
    }
    assert.deepEqual(complaints, []);
  });

  it("says what a caller without role_bindings.list needs, and why", async () => {
    const uid = userUid(`${server.config.baseUrl}/development/login`, "puller");
    await bind(server.groupUid, uid, builtInRoleUid("registry.pull"));
    await using console = await openAccess("", { as: "puller" });
    const { page, complaints } = console;
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByText(/You need role_bindings\.list at/).waitFor();
    await page.getByRole("link", { name: "Why?" }).click();
    await page.getByRole("heading", { name: /does not have role_bindings\.list/ }).waitFor();
    await page.getByText(/registry\.pull here/).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("shows nothing to a stranger", async () => {
    await using console = await openAccess(`?group=${engineering}`, { as: "stranger" });
    await console.page.getByRole("heading", { name: "Not found" }).waitFor();
    assert.deepEqual(console.complaints, []);
  });

  it("shows hostile texts as text", async () => {
    const subject = `<img src=x onerror=alert(1)> 😀 {count} ${"w".repeat(300)}`;
    const hostile = await createIdentity("hostile", engineering, subject);
    await bind(engineering, hostile, builtInRoleUid("viewer"));
    await using console = await openAccess(`?group=${engineering}`, { width: 375 });
    const { page, complaints } = console;
    page.on("dialog", (dialog) => complaints.push(dialog.message()));
    await rowOf(page, "hostile").waitFor();
    assert.ok((await rowOf(page, "hostile").textContent())?.includes("<img src=x onerror=alert(1)>"));
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  for (const width of [1280, 375])
    for (const dark of [false, true])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await openAccess(`?group=${engineering}&confined=yes`, { width, dark });
        const { page, complaints } = console;
        await rowOf(page, "ci").waitFor();
        await rowOf(page, "ci")
          .getByRole("button", { name: /registry\.push here/ })
          .click();
        await page.getByRole("menuitem").first().waitFor();
        assert.deepEqual(await findProblems(page), [], "menu");
        await page.keyboard.press("Escape");
        await page.getByRole("combobox", { name: "Capability" }).click();
        await page.getByRole("option").first().waitFor();
        assert.deepEqual(await findProblems(page), [], "capabilities");
        for (const [query, name] of [
          [`group=${engineering}&cell=${ci}&area=registry`, /Create repos/],
          [`tab=identity&identity=${ci}`, /registry\.push/],
          [`tab=ask&identity=${ci}&capability=groups.delete&group=${engineering}`, /does not have groups\.delete/],
          [`dialog=grant&identity=${ci}`, /counts here/],
          [`dialog=change&binding=${ciBinding}`, /Change registry\.push/],
          [`dialog=revoke&binding=${ciBinding}`, /− Loses/],
        ] as const) {
          await page.goto(`${server.url}/console/o/${server.groupUid}/access?${query}`);
          await page.getByText(name).filter({ visible: true }).first().waitFor();
          await untilQuiet(page);
          assert.deepEqual(await findProblems(page), [], query);
        }
        assert.deepEqual(complaints, []);
      });
});
