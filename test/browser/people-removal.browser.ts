// The removal of a person from an organization in a real browser.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { findRow, updateRow } from "../../src/storage/collection/rows.ts";
import { identityCollection } from "../../src/storage/iam/collections.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { arrange } from "../security/tree.ts";
import { openChromium } from "./chromium.ts";
import {
  bindRole,
  buildConsole,
  builtInRoleUid,
  createGroup,
  createResource,
  findProblems,
  openConsole,
  signIn,
} from "./console.ts";

describe("the removal of a person", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const personUid = (name: string) => userUid(`${server.config.baseUrl}/development/login`, name);
  const address = () => `/console/o/${server.groupUid}/people`;

  /** Adds a person who has joined, with 8 roles: at the organization and in seven groups. Returns a function that counts them. */
  async function addLeaver(name: string): Promise<() => Promise<number>> {
    await bindRole(server, name, "viewer");
    await arrange(server, async (tx) => {
      const row = await findRow(tx, identityCollection, personUid(name));
      await updateRow(tx, identityCollection, row!, {
        ...row!,
        name,
        issuer: "https://login.example.org",
        subject: name,
      });
    });
    for (let i = 1; i < 8; i++)
      await createResource(server, `roleBindings/${await createGroup(server, `${name}-${i}`, server.groupUid)}`, {
        identityUid: personUid(name),
        roleUid: builtInRoleUid(i === 1 ? "owner" : "viewer"),
      });
    return async () => {
      const path = `/iam/v2beta1/roleBindings?identity=${personUid(name)}`;
      return (await rest(server.url, server.ownerToken, "GET", path)).body.roleBindings.length;
    };
  }

  it("removes a person with 8 roles by two clicks, in English and German, and their token is denied at once", async () => {
    for (const [name, locale, remove, confirm] of [
      ["leaver", "en-GB", "Remove", "Remove from organization"],
      ["abgang", "de-DE", "Entfernen", "Aus der Organisation entfernen"],
    ] as const) {
      const countRoles = await addLeaver(name);
      const token = await server.tokenOf(personUid(name));
      const status = async () =>
        (await rest(server.url, token, "GET", `/iam/v2beta1/groups/${server.groupUid}`)).status;
      assert.equal(await status(), 200);
      await using console = await openConsole(browser, server, { path: address(), locale });
      const { page, complaints } = console;
      await page.getByRole("button", { name: locale === "de-DE" ? "Anmelden" : "Sign in" }).click();
      await page.getByRole("link", { name: "owner", exact: true }).click();
      await page.getByRole("button", { name: `${remove} ${name}` }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText(`owner · ${name}-1`).waitFor();
      assert.equal(await dialog.getByText(/^viewer · /).count(), 7);
      await dialog.getByText(new RegExp(`${name}-1.*(own owner|eigenen Eigentümer)`)).waitFor();
      assert.deepEqual(await findProblems(page), []);
      assert.equal(await countRoles(), 8, "the preview changes nothing");
      await dialog.getByRole("button", { name: confirm }).click();
      await dialog.waitFor({ state: "detached" });
      assert.deepEqual([await countRoles(), await status()], [0, 403]);
      await page.getByRole("button", { name: `${remove} ${name}` }).waitFor({ state: "detached" });
      assert.deepEqual(complaints, []);
    }
  });

  it("removes a person with 8 roles from their page by four clicks, and from the list by keyboard alone", async () => {
    const countRoles = await addLeaver("pageleaver");
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("link", { name: "pageleaver", exact: true }).click();
    await page.getByRole("heading", { name: "pageleaver" }).waitFor();
    const rows = page.getByRole("row", { name: /viewer|owner/ });
    await rows.nth(7).waitFor();
    assert.equal(await rows.count(), 8);
    await page.getByRole("button", { name: "More actions" }).click();
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole("menuitem", { name: "Remove from organization" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Remove from organization" }).click();
    await page.getByRole("heading", { name: "People" }).waitFor();
    assert.equal(await countRoles(), 0);

    const countOthers = await addLeaver("keyleaver");
    await page.reload();
    await page.getByRole("row", { name: /keyleaver/ }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("keyl");
    await page.getByText("1–1 of 1").waitFor();
    const isRow = "document.activeElement.matches('tr[data-key]')";
    for (let i = 0; i < 20 && !(await page.evaluate(isRow)); i++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "keyleaver" }).waitFor();
    await page.getByRole("row", { name: /owner/ }).waitFor();
    await page.keyboard.press("Delete");
    await dialog.getByText("owner · keyleaver-1").waitFor();
    const isConfirm = "document.activeElement.textContent === 'Remove from organization'";
    for (let i = 0; i < 20 && !(await page.evaluate(isConfirm)); i++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "People" }).waitFor();
    assert.equal(await countOthers(), 0);
    assert.deepEqual(complaints, []);
  });

  it("a role given between the preview and the confirmation is an error, nothing is lost, and the dialog shows it", async () => {
    const countRoles = await addLeaver("changed");
    await using console = await openConsole(browser, server, { path: address(), width: 375, dark: true });
    const { page } = console;
    await signIn(page, "owner");
    await page.getByRole("button", { name: "Remove changed" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("owner · changed-1").waitFor();
    await createResource(server, `roleBindings/${await createGroup(server, "late", server.groupUid)}`, {
      identityUid: personUid("changed"),
      roleUid: builtInRoleUid("viewer"),
    });
    await dialog.getByRole("button", { name: "Remove from organization" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/roles of changed have changed meanwhile/)
      .waitFor();
    await dialog.getByText("viewer · late").waitFor();
    assert.equal(await countRoles(), 9);
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Remove from organization" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal(await countRoles(), 0);
  });

  it("says why a person cannot be removed, and offers nobody to remove themselves", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page } = console;
    await signIn(page, "viewer");
    const button = page.getByRole("button", { name: "Remove owner" });
    assert.equal(await button.getAttribute("aria-disabled"), "true");
    assert.equal(await page.getByRole("button", { name: "Remove viewer" }).count(), 0);
    await button.hover();
    await page
      .getByText(/role_bindings\.delete/)
      .first()
      .waitFor();
  });
});
