// The view Roles in a real browser: what roles allow, who has them, and the dialogs that change them.
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

describe("the view Roles", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let [security, ci, reader] = ["", "", ""];
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    const root = server.groupUid;
    security = await createGroup(server, "security", root);
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    const claimMatch = { issuer: "https://issuer.example.org", subject: "ci" };
    ci = await createResource(server, `identities/${root}`, { name: "ci", claimMatch });
    reader = await createRole("catalog reader", ["CAP_REPO_LIST", "CAP_TAG_LIST"]);
    await bind(reader);
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const createRole = (name: string, capabilities: readonly string[], description = "Sees which images there are") =>
    createResource(server, `roles/${server.groupUid}`, { name, description, capabilities });
  const bind = (roleUid: string) => createResource(server, `roleBindings/${security}`, { identityUid: ci, roleUid });

  /** Opens the view, and signs in. */
  async function openRoles(
    rest = "",
    options: { readonly as?: string; readonly width?: number; readonly dark?: boolean } = {},
  ): Promise<ConsolePage> {
    const { as = "owner", ...others } = options;
    const path = `/console/o/${server.groupUid}/roles/${rest}`;
    const console = await openConsole(browser, server, { path, ...others });
    await signIn(console.page, as);
    await console.page.getByRole("heading", { level: 1 }).waitFor();
    return console;
  }

  const rowOf = (page: Page, name: string) =>
    page.getByRole("table", { name: "Roles of the organization" }).locator("tr[data-key]").filter({ hasText: name });

  it("lists roles with their uses, filters them, and opens a uid", async () => {
    await using console = await openRoles();
    const { page, complaints } = console;
    await rowOf(page, "catalog reader").getByRole("cell", { name: "1", exact: true }).waitFor();
    await page.getByRole("button", { name: "Own 1" }).click();
    await rowOf(page, "registry.push").waitFor({ state: "detached" });
    assert.match(page.url(), /kind=own/);
    await page.getByRole("button", { name: /^All/ }).click();
    await page.getByRole("searchbox").first().fill("registry.pu");
    await rowOf(page, "catalog reader").waitFor({ state: "detached" });
    assert.equal(await rowOf(page, "registry.pu").count(), 3);
    await page.getByRole("searchbox").first().fill(reader);
    await rowOf(page, "catalog reader").getByRole("link").click();
    await page.getByRole("heading", { name: "catalog reader" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("shows what a role allows, who has it, and how it differs from another one", async () => {
    await using console = await openRoles(reader);
    const { page, complaints } = console;
    const details = page.getByRole("region", { name: "catalog reader" });
    await details.getByText("Allows 2 capabilities").waitFor();
    await details.getByText("See tags and their history").waitFor();
    await details.getByRole("table", { name: "Who has it" }).getByRole("link", { name: "ci" }).waitFor();
    await details.getByRole("combobox", { name: "Compare with" }).fill("registry.pull");
    await page.getByRole("option", { name: "registry.pull", exact: true }).click();
    await details.getByText("− missing here").first().waitFor();
    assert.match(page.url(), /compare=/);
    await details.getByText("Other", { exact: false }).click();
    await details.getByText("See the signatures of images that clusters run (not used by this server)").waitFor();
    await details.getByLabel("Filter capabilities").fill("groups");
    await details.getByText("See groups and their names").waitFor();
    await details.getByText("See tags and their history").waitFor({ state: "detached" });
    await details.getByRole("link", { name: "ci" }).click();
    await page.getByRole("heading", { name: "ci", level: 1 }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("creates, edits and deletes a role, with errors at the field", async () => {
    await using console = await openRoles();
    const { page, complaints } = console;
    await page.getByRole("button", { name: "New role" }).click();
    const dialog = page.getByRole("dialog", { name: "New role" });
    await dialog.getByLabel("Name").fill("owner");
    await dialog.getByRole("checkbox", { name: "Events 0/3" }).check();
    await dialog.getByRole("button", { name: "Create role" }).click();
    await dialog.getByText(/is the name of a built-in role/).waitFor();
    await dialog.getByLabel("Name").fill("analyst");
    await dialog.getByLabel("Filter capabilities").fill("tag.list");
    await dialog.getByRole("checkbox", { name: "tag.list" }).check();
    await dialog.getByText("4 capabilities chosen").waitFor();
    await dialog.getByRole("button", { name: "Create role" }).click();
    await page.getByRole("heading", { name: "analyst" }).waitFor();

    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const edit = page.getByRole("dialog", { name: "Edit analyst" });
    await edit.getByLabel("Description").fill("Follows events");
    await edit.getByLabel("Filter capabilities").fill("tag.list");
    await edit.getByRole("checkbox", { name: "tag.list" }).uncheck();
    await edit.getByText("Nobody gains or loses anything.").waitFor();
    await edit.getByRole("button", { name: "Save changes" }).click();
    await page.getByText("Allows 3 capabilities").waitFor();

    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog", { name: "Delete analyst" }).getByRole("button", { name: "Delete role" }).click();
    await page.getByText("Role analyst deleted").waitFor();
    await rowOf(page, "analyst").waitFor({ state: "detached" });
    assert.deepEqual(
      complaints.filter((line) => !line.includes("400")),
      [],
    );
  });

  it("says who would lose what before a role is changed", async () => {
    await using console = await openRoles(`${reader}?dialog=edit`);
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog", { name: "Edit catalog reader" });
    await dialog.getByLabel("Filter capabilities").fill("tag.");
    await dialog.getByRole("checkbox", { name: "tag.list" }).uncheck();
    await dialog.getByRole("checkbox", { name: "tag.delete" }).check();
    const preview = dialog.getByRole("region", { name: "What would change" });
    await preview.getByText("− Loses").waitFor();
    await preview.getByText("+ Gains").waitFor();
    await preview.getByText("at security", { exact: true }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  it("shows what someone else has changed while a form was open", async () => {
    const uid = await createRole("shared", ["CAP_REPO_LIST"], "first");
    await using console = await openRoles(`${uid}?dialog=edit`);
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog", { name: "Edit shared" });
    await dialog.getByLabel("Description").fill("mine");
    const path = `/iam/v2beta1/roles/${uid}?updateMask=description`;
    const changed = await rest(server.url, server.ownerToken, "PATCH", path, { description: "theirs" });
    assert.equal(changed.status, 200);
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await dialog.getByRole("heading", { name: "Someone else has changed this" }).waitFor();
    await dialog.getByRole("button", { name: "Save mine" }).click();
    await page.getByText("Role shared saved").waitFor();
    const { body } = await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/roles/${uid}`);
    assert.equal(body.description, "mine");
    assert.deepEqual(complaints, []);
  });

  it("saves nothing over a change that came after the one that was shown, and shows that one then", async () => {
    const uid = await createRole("contested", ["CAP_REPO_LIST"], "first");
    await using console = await openRoles(`${uid}?dialog=edit`);
    const { page } = console;
    const dialog = page.getByRole("dialog", { name: "Edit contested" });
    await dialog.getByLabel("Description").fill("mine");
    const path = `/iam/v2beta1/roles/${uid}?updateMask=description`;
    const change = (description: string) => rest(server.url, server.ownerToken, "PATCH", path, { description });
    await change("theirs");
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await dialog.getByRole("heading", { name: "Someone else has changed this" }).waitFor();
    await change("theirs again");
    await dialog.getByRole("button", { name: "Save mine" }).click();
    await dialog.getByText("This was changed since you opened it").waitFor();
    const { body } = await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/roles/${uid}`);
    assert.equal(body.description, "theirs again");
  });

  it("lists the bindings that stand in the way of a deletion", async () => {
    await using console = await openRoles(`${reader}?dialog=delete`);
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog", { name: "Delete catalog reader" });
    await dialog.getByText("This role is in use. First revoke or change:").waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Delete role" }).isDisabled(), true);
    await dialog.getByRole("link", { name: "ci at security" }).click();
    await page.getByRole("heading", { name: "Who can do what" }).waitFor();
    await page.getByText("catalog reader here").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("creates, edits and deletes a role by keyboard alone", async () => {
    await using console = await openRoles();
    const { page, complaints } = console;
    await rowOf(page, "catalog reader").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("catalog");
    await rowOf(page, "registry.push").waitFor({ state: "detached" });
    await rowOf(page, "catalog reader").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "catalog reader" }).waitFor();
    await page.keyboard.press("e");
    await page.getByRole("dialog", { name: "Edit catalog reader" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Delete");
    await page.getByRole("dialog", { name: "Delete catalog reader" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("n");
    await page.getByRole("dialog", { name: "New role" }).waitFor();
    await page.keyboard.type("by keyboard");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Filter capabilities").focus();
    await page.keyboard.type("terms.list");
    await dialog.getByRole("checkbox", { name: "terms.list" }).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "by keyboard" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("lets a viewer look, makes no call that is denied, and says what is missing", async () => {
    await using console = await openRoles(reader, { as: "viewer" });
    const { page, complaints } = console;
    await page.getByRole("heading", { name: "catalog reader" }).waitFor();
    const edit = page.getByRole("button", { name: "Edit", exact: true });
    assert.equal(await edit.getAttribute("aria-disabled"), "true");
    await edit.focus();
    await page
      .getByText(/You lack roles\.update/)
      .first()
      .waitFor();
    for (const dialog of ["new", "edit", "delete"]) {
      await page.goto(`${server.url}/console/o/${server.groupUid}/roles/${reader}?dialog=${dialog}`);
      await page.getByRole("heading", { name: "catalog reader" }).waitFor();
      await untilQuiet(page);
      assert.equal(await page.getByRole("dialog").count(), 0);
    }
    assert.deepEqual(complaints, []);
  });

  it("offers only capabilities that the caller holds", async () => {
    const uid = userUid(`${server.config.baseUrl}/development/login`, "clerk");
    const clerk = await createRole("clerk", ["CAP_IAM_ROLES_LIST", "CAP_IAM_ROLES_CREATE"]);
    await createResource(server, `roleBindings/${server.groupUid}`, { identityUid: uid, roleUid: clerk });
    await using console = await openRoles("?dialog=new", { as: "clerk" });
    const { page, complaints } = console;
    await page.getByRole("button", { name: "Join" }).click();
    const dialog = page.getByRole("dialog", { name: "New role" });
    await dialog.getByLabel("Filter capabilities").fill("roles.");
    assert.equal(await dialog.getByRole("checkbox", { name: "roles.create" }).isDisabled(), false);
    assert.equal(await dialog.getByRole("checkbox", { name: "roles.delete" }).isDisabled(), true);
    await dialog.getByText("You cannot grant it: you lack it yourself").first().waitFor();
    await untilQuiet(page);
    assert.deepEqual(complaints, []);
  });

  it("says what a caller without roles.list needs, and shows a stranger nothing", async () => {
    const uid = userUid(`${server.config.baseUrl}/development/login`, "puller");
    const roleUid = builtInRoleUid("registry.pull");
    await createResource(server, `roleBindings/${server.groupUid}`, { identityUid: uid, roleUid });
    await using puller = await openRoles("", { as: "puller" });
    await puller.page.getByRole("button", { name: "Join" }).click();
    await puller.page.getByText(/You need roles\.list at/).waitFor();
    assert.equal(await puller.page.getByRole("link", { name: "Roles", exact: true }).count(), 0);
    await using stranger = await openRoles("", { as: "stranger" });
    await stranger.page.getByRole("heading", { name: "Not found" }).waitFor();
    assert.deepEqual([...puller.complaints, ...stranger.complaints], []);
  });

  it("shows hostile texts as text", async () => {
    const description = `<img src=x onerror=alert(1)> 😀 {count} javascript:alert(1) ${"w".repeat(300)}`;
    const uid = await createRole("hostile", ["CAP_REPO_LIST"], description);
    await using console = await openRoles(uid, { width: 375 });
    const { page, complaints } = console;
    page.on("dialog", (dialog) => complaints.push(dialog.message()));
    await page.getByRole("heading", { name: "hostile" }).waitFor();
    const shown = page.getByRole("region", { name: "hostile" });
    assert.ok((await shown.textContent())?.includes("<img src=x onerror=alert(1)>"));
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  for (const width of [1280, 375])
    for (const dark of [false, true])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        const compared = `${builtInRoleUid("editor")}?compare=${builtInRoleUid("viewer")}`;
        await using console = await openRoles(compared, { width, dark });
        const { page, complaints } = console;
        await page.getByText("+ only here").first().waitFor();
        assert.deepEqual(await findProblems(page), [], "compared");
        await page.getByRole("button", { name: "Copy as" }).first().click();
        await page.getByRole("menuitem", { name: "curl", exact: true }).waitFor();
        assert.deepEqual(await findProblems(page), [], "menu");
        for (const dialog of ["new", "edit", "delete"]) {
          await page.goto(`${server.url}/console/o/${server.groupUid}/roles/${reader}?dialog=${dialog}`);
          await page.getByRole("dialog").waitFor();
          await untilQuiet(page);
          assert.deepEqual(await findProblems(page), [], dialog);
        }
        assert.deepEqual(complaints, []);
      });
});
