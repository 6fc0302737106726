// Changes of login providers and cloud accounts in a real browser: by two people at once, and what cannot be undone.
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
  createGroup,
  createResource,
  findProblems,
  openConsole,
  signIn,
} from "./console.ts";

const oidc = { issuer: "https://sso.example.org", clientId: "gatehouse", additionalScopes: ["email"] };

describe("changes of login providers and cloud accounts", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let provider: string;
  let mapping: string;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    provider = await createResource(server, `identityProviders/${server.groupUid}`, {
      name: "sso",
      defaultRole: builtInRoleUid("viewer"),
      oidc: { ...oidc, clientSecret: "first-secret", pkceEnabled: true },
    });
    mapping = await createResource(server, `externalGroupRoleMappings/${provider}`, {
      externalGroupId: "<b>admins</b>",
      roleUid: builtInRoleUid("editor"),
      scope: server.groupUid,
    });
    await call("POST", `accountAssociations/${server.groupUid}`, {
      name: "cloud",
      amazon: { account: "111111111111" },
    });
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const providerAt = (more = "") => `/console/o/${server.groupUid}/sign-in/${provider}?${more.replace("&", "")}`;
  const accountsAt = (more = "") => `/console/o/${server.groupUid}/sign-in/${server.groupUid}?tab=accounts${more}`;

  async function call(method: string, path: string, body?: unknown) {
    const response = await rest(server.url, server.ownerToken, method, `/iam/v2beta1/${path}`, body);
    assert.equal(response.status, 200, JSON.stringify(response.body));
    return response.body;
  }

  async function open(path: string, as = "owner", look: { width?: number; dark?: boolean } = {}) {
    const console = await openConsole(browser, server, { path, ...look });
    await signIn(console.page, as);
    return console;
  }

  const button = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });

  it("shows which fields of a provider another person has changed, and keeps their other changes", async () => {
    await using console = await open(providerAt("&dialog=edit"));
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Client id").fill("mine");
    const update = (value: object, mask: string) =>
      call("PATCH", `identityProviders/${provider}?updateMask=${mask}`, { uid: provider, ...value });
    await update({ oidc: { clientId: "theirs", groupsClaim: "groups" } }, "oidc.client_id,oidc.groups_claim");
    await button(page, "Save changes").click();
    const row = dialog.getByRole("row", { name: /oidc.client_id/ });
    assert.match((await row.textContent()) ?? "", /theirs.*mine/);
    assert.deepEqual(await findProblems(page), []);

    await button(page, "Take the other values").click();
    await page.locator("[name=client_id][value=theirs]").waitFor();
    await dialog.getByLabel("Client id").fill("mine");
    await update({ oidc: { clientId: "theirs again" }, description: "theirs" }, "oidc.client_id,description");
    await button(page, "Save changes").click();
    await row.waitFor();
    await button(page, "Save mine").click();
    await dialog.waitFor({ state: "detached" });
    const saved = await call("GET", `identityProviders/${provider}`);
    assert.deepEqual(
      [saved.oidc.clientId, saved.oidc.groupsClaim, saved.oidc.issuer, saved.description],
      ["mine", "groups", oidc.issuer, "theirs"],
    );
    assert.deepEqual(complaints, []);
  });

  it("says what the replacement of a client secret does before it is made", async () => {
    await using console = await open(providerAt("&dialog=edit"));
    const { page, complaints } = console;
    const sent: string[] = [];
    page.on(
      "request",
      (request) => request.url().endsWith("UpdateIdentityProvider") && sent.push(request.postData() ?? ""),
    );
    await page.getByRole("dialog").getByLabel("Client secret", { exact: true }).fill("second-secret");
    await button(page, "Save changes").click();
    await page.getByText("Nobody can sign in through sso").waitFor();
    assert.deepEqual(sent, []);
    assert.deepEqual(await findProblems(page), []);
    await button(page, "Replace client secret").click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.match(sent.join(), /second-secret/);
    assert.match(sent.join(), /"oidc.clientSecret"/);
    assert.deepEqual(complaints, []);
  });

  it("shows what another person has changed once, after the warning about a client secret", async () => {
    await using console = await open(providerAt("&dialog=edit"));
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Client secret", { exact: true }).fill("third-secret");
    await dialog.getByLabel("Description").fill("mine");
    const others = { uid: provider, description: "theirs again" };
    await call("PATCH", `identityProviders/${provider}?updateMask=description`, others);
    await button(page, "Save changes").click();
    await dialog.getByText("Nobody can sign in through sso").waitFor();
    assert.equal(await dialog.getByRole("row").count(), 0);
    await button(page, "Replace client secret").click();
    await dialog.getByRole("row", { name: /description.*theirs again.*mine/ }).waitFor();
    await button(page, "Save mine").click();
    await dialog.waitFor({ state: "detached" });
    assert.equal((await call("GET", `identityProviders/${provider}`)).description, "mine");
    assert.deepEqual(complaints, []);
  });

  it("says who loses which role before a group mapping is deleted, by keyboard", async () => {
    await using console = await open(providerAt());
    const { page, complaints } = console;
    const remove = page.getByRole("row", { name: /admins/ }).getByRole("button", { name: "Delete group mapping" });
    await remove.focus();
    await page.keyboard.press("Enter");
    await page.getByText("People of the group <b>admins</b> lose the role editor at once").waitFor();
    assert.ok(page.url().includes(`mapping=${encodeURIComponent(mapping)}`) || page.url().includes(mapping));
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await remove.press("Enter");
    await page.getByText("lose the role editor").waitFor();
    await page.keyboard.press("Control+Enter");
    await page.getByText("No group of the provider gives a role.").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("says what happens to the SCIM token before it is replaced or revoked", async () => {
    await using console = await open(providerAt());
    const { page, complaints } = console;
    const secret = page.locator("code").filter({ hasText: /^.{30,}$/ });
    await page.getByRole("button", { name: "Generate token" }).click();
    await page.getByText("It cannot be shown again").waitFor();
    const first = await secret.last().textContent();

    await page.getByRole("button", { name: "Replace token" }).click();
    await page.getByText("accepted for one more hour").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await button(page, "Replace token").click();
    await page.getByText("the one before is still accepted").waitFor();
    await page.getByText("It cannot be shown again").waitFor();
    assert.notEqual(await secret.last().textContent(), first);

    await page.getByRole("button", { name: "Revoke token" }).click();
    await page.getByText("The token is denied at once").waitFor();
    await button(page, "Revoke token").click();
    await page.getByText("token revoked").first().waitFor();
    assert.equal(await page.getByText("It cannot be shown again").count(), 0);
    const { scim } = await call("GET", `identityProviders/${provider}`);
    assert.equal(scim.credentialState, "CREDENTIAL_STATE_REVOKED");
    assert.deepEqual(complaints, []);
  });

  it("shows what another person has changed of cloud accounts, and connects an Azure tenant", async () => {
    await using console = await open(accountsAt("&dialog=edit"));
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("AWS account").fill("222222222222");
    await dialog.getByLabel("Azure tenant").fill("tenant-1");
    await button(page, "Add client id").click();
    await dialog.getByLabel("Component 1").fill("scanner");
    await button(page, "Save changes").click();
    await dialog.locator("fieldset[aria-invalid=true]").getByText('"scanner": must not be empty').waitFor();
    await dialog.getByLabel("Client id 1").fill("client-1");
    const theirs = { uid: server.groupUid, name: "theirs", amazon: { account: "333333333333" } };
    await call("PATCH", `accountAssociations/${server.groupUid}?updateMask=name,amazon`, theirs);
    await button(page, "Save changes").click();
    assert.match((await dialog.getByRole("row", { name: /amazon/ }).textContent()) ?? "", /333333333333.*222222222222/);
    assert.deepEqual(await findProblems(page), []);
    await button(page, "Save mine").click();
    await dialog.waitFor({ state: "detached" });
    const { name, amazon, azure } = await call("GET", `accountAssociations/${server.groupUid}`);
    assert.deepEqual(
      { name, amazon, azure },
      {
        name: "theirs",
        amazon: { account: "222222222222" },
        azure: { tenantId: "tenant-1", clientIds: { scanner: "client-1" } },
      },
    );
    // Chromium logs the response with the violation.
    assert.deepEqual(
      complaints.filter((text) => !text.includes("400 (Bad Request)")),
      [],
    );
  });

  it("checks the accounts of a group, also as a viewer, who is told what is missing to change them", async () => {
    const group = await createGroup(server, "checked", server.groupUid);
    await call("POST", `accountAssociations/${group}`, {
      name: "checked",
      google: { projectId: "p", projectNumber: "7" },
    });
    await using console = await open(accountsAt(), "viewer");
    const { page, complaints } = console;
    const row = page.getByRole("row", { name: /checked/ });
    await row.getByRole("button", { name: "Check" }).click();
    await page.getByRole("dialog").getByRole("heading", { name: "Google Cloud" }).waitFor();
    await page.getByText("Not ready: error exchanging credentials").waitFor();
    assert.equal(await page.getByRole("dialog").getByRole("heading", { name: "AWS" }).count(), 0);
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const disconnect = row.getByRole("button", { name: "Disconnect" });
    assert.equal(await disconnect.getAttribute("aria-disabled"), "true");
    await disconnect.press("Enter");
    await page.getByRole("tooltip", { name: /account_associations.delete/ }).waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.deepEqual(complaints, []);
  });

  it("shows a stranger none of the dialogs", async () => {
    await using console = await open(providerAt("&dialog=scim-replace"), "stranger");
    const { page, complaints } = console;
    await page.getByRole("heading").first().waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.deepEqual(complaints, []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await open(providerAt(), "owner", { width, dark });
        const { page, complaints } = console;
        await page.getByRole("heading", { name: "sso" }).waitFor();
        for (const path of [
          providerAt("&dialog=edit"),
          providerAt("&dialog=scim-replace"),
          accountsAt("&dialog=edit"),
          accountsAt("&dialog=check"),
        ]) {
          await page.goto(server.url + path);
          await page.getByRole("dialog").waitFor();
          await page.locator("[role=dialog] [aria-busy=true]").first().waitFor({ state: "detached" });
          assert.deepEqual(await findProblems(page), [], path);
        }
        assert.deepEqual(complaints, []);
      });
});
