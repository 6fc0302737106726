// People, invites, login providers and cloud accounts in a real browser.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addOwner, createProvider, enableScim } from "../scim/provisioning.ts";
import { addFindingExamples } from "../services/findings/finding-examples.ts";
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

const tabs = ["people", "invites", "providers", "accounts"] as const;

describe("people, invites, providers and accounts", { timeout: 300_000 }, () => {
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
  const address = (tab: string, more = "") => `/console/o/${server.groupUid}/identities/?tab=${tab}${more}`;

  async function pick(page: Page, label: string, text: string): Promise<void> {
    await page.getByRole("dialog").getByRole("combobox", { name: label, exact: true }).fill(text);
    await page.getByRole("dialog").getByRole("option", { name: text }).first().click();
  }

  it("invites a person by a link, whose code no server sees, and the person accepts", async () => {
    await using console = await openConsole(browser, server, { path: address("invites", "&dialog=new") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await pick(page, "Role", "viewer");
    await page.getByRole("dialog").getByRole("button", { name: "Create invite" }).click();
    const link = page.getByRole("dialog").locator("code").filter({ hasText: "#invite=" });
    const url = (await link.textContent()) ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row", { name: /viewer at example.org/ }).waitFor();
    assert.deepEqual(complaints, []);

    await using invited = await openConsole(browser, server, { path: url.slice(server.url.length) });
    const seen: string[] = [];
    invited.page.on("request", (request) => seen.push(request.url()));
    await invited.page.getByText("You are invited").waitFor();
    assert.doesNotMatch(invited.page.url(), /invite/);
    await signIn(invited.page, "newcomer");
    await invited.page.getByRole("button", { name: "Join" }).click();
    await invited.page.getByRole("heading", { name: "Overview of example.org" }).waitFor();
    const code = url.slice(url.indexOf("=") + 1);
    assert.deepEqual(
      seen.filter((one) => one.includes(code)),
      [],
    );
    await page.getByRole("link", { name: "People" }).click();
    await page.getByRole("row", { name: /newcomer/ }).waitFor();
  });

  it("lists who holds a role only in a subgroup, finds a part of a name, and says who has not joined", async () => {
    const folder = await createGroup(server, "builds", server.groupUid);
    const roleUid = builtInRoleUid("viewer");
    for (const name of ["ana", "ben"])
      await createResource(server, `roleBindings/${folder}`, { identityUid: personUid(name), roleUid });
    await using other = await openConsole(browser, server, { path: `/console/o/${server.groupUid}/groups/${folder}` });
    await signIn(other.page, "ana");
    await other.page.getByRole("button", { name: "Join" }).click();
    await other.page.getByRole("heading", { name: "builds" }).waitFor();

    await using console = await openConsole(browser, server, { path: address("people") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const ana = page.getByRole("row", { name: /ana.*viewer · builds/ });
    await ana.waitFor();
    await page.getByRole("row", { name: /Not joined yet.*viewer · builds.*Pending/ }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("AN");
    await page.getByText("1–1 of 1").waitFor();
    await ana.waitFor();
    assert.match(page.url(), /filter=AN/);
    await page.getByLabel("Name, e-mail or uid").fill("nobody has this name");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.goto(server.url + address("people", `&filter=${personUid("ben")}&group=${folder}`));
    await page.getByText("1–1 of 1").waitFor();
    await page.getByRole("link", { name: "viewer · builds" }).click();
    await page.getByRole("heading", { name: "Who can do what" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("marks a person whom a login provider has deactivated: in People, in Access, and in the reasons", async () => {
    await addOwner(server);
    const scim = await enableScim(server, await createProvider(server));
    const uid = userUid("https://sso.acme.test", "leaver");
    await createResource(server, `roleBindings/${server.groupUid}`, {
      identityUid: uid,
      roleUid: builtInRoleUid("viewer"),
    });
    const schemas = ["urn:ietf:params:scim:schemas:core:2.0:User"];
    const user = { schemas, userName: "leaver", externalId: "leaver", active: false };
    assert.equal((await scim.send("POST", "/Users", user)).status, 201);
    const access = `/console/o/${server.groupUid}/access?`;
    for (const [width, dark] of [
      [1280, false],
      [375, true],
    ] as const) {
      await using console = await openConsole(browser, server, { path: address("people"), width, dark });
      const { page, complaints } = console;
      await signIn(page, "owner");
      await page.locator("tr[data-key]").filter({ hasText: "Deactivated" }).waitFor();
      assert.equal(await page.getByTitle("deactivated by the login provider").count(), 1);
      assert.deepEqual(await findProblems(page), []);
      await page.goto(`${server.url}${access}identity=${uid}`);
      await page.getByText("Nobody has access that matches.").waitFor();
      await page.getByLabel("Show roles without effect").check();
      const row = page.locator("tr[data-key]").filter({ hasText: "deactivated by the login provider" });
      await row.getByText("viewer here").waitFor();
      assert.deepEqual(await findProblems(page), []);
      await row.getByRole("button", { name: /, Registry: inactive\. Why\?$/ }).click();
      await page.getByRole("dialog").getByText("The login provider has deactivated the person.").first().waitFor();
      await page.goto(`${server.url}${access}tab=identity&identity=${uid}`);
      const idle = page.getByRole("region", { name: /because the login provider has deactivated the person/ });
      await idle.getByRole("button", { name: /^viewer/ }).waitFor();
      assert.deepEqual(await findProblems(page), []);
      assert.deepEqual(complaints, []);
    }
  });

  it("shows the people of a subgroup to its owner, and nothing to a stranger", async () => {
    const team = await createGroup(server, "team", server.groupUid);
    await createResource(server, `roleBindings/${team}`, {
      identityUid: personUid("lead"),
      roleUid: builtInRoleUid("owner"),
    });
    await using console = await openConsole(browser, server, { path: address("people") });
    await signIn(console.page, "lead");
    await console.page.getByRole("button", { name: "Join" }).click();
    await console.page.getByRole("row", { name: /lead.*owner · team/ }).waitFor();
    await console.page.getByText("1–1 of 1").waitFor();
    assert.deepEqual(console.complaints, []);
    await using stranger = await openConsole(browser, server, { path: address("people") });
    await signIn(stranger.page, "stranger");
    await stranger.page.getByRole("heading", { name: "Not found" }).waitFor();
    assert.deepEqual(stranger.complaints, []);
  });

  it("marks an invite whose maker has lost the role", async () => {
    const folder = await createGroup(server, "departed", server.groupUid);
    await addFindingExamples(server, server.groupUid, folder);
    await using console = await openConsole(browser, server, { path: address("invites") });
    await signIn(console.page, "owner");
    await console.page.getByRole("row", { name: /viewer at departed.*not in force/ }).waitFor();
    assert.equal(await console.page.getByText("not in force").count(), 1);
    assert.deepEqual(console.complaints, []);
  });

  it("creates a login provider, says what to register, tests it, maps a group and shows a SCIM token once", async () => {
    await using console = await openConsole(browser, server, { path: address("providers", "&dialog=new") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("sso");
    await dialog.getByLabel("Issuer").fill("https://10.0.0.1");
    await dialog.getByLabel("Client id").fill("gatehouse");
    await dialog.getByLabel("Client secret").fill("the-secret-of-this-client");
    await pick(page, "Role of new people", "viewer");
    await dialog.getByRole("button", { name: "Create login provider" }).click();
    await page.getByRole("heading", { name: "sso" }).waitFor();
    await page.getByText(`${server.url}/oauth/callback/`).first().waitFor();
    await page.getByRole("button", { name: "Test connection" }).click();
    await page.getByText("the address of the host is not public").waitFor();
    assert.deepEqual(await findProblems(page), []);

    await page.getByRole("button", { name: "New group mapping" }).click();
    await dialog.getByLabel("Group of the provider").fill("admins");
    await pick(page, "Role", "viewer");
    await dialog.getByRole("button", { name: "Create group mapping" }).click();
    await page.getByRole("row", { name: /admins/ }).waitFor();

    await page.getByRole("button", { name: "Generate token" }).click();
    await page.getByText("It cannot be shown again").waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "sso" }).waitFor();
    assert.equal(await page.getByText("It cannot be shown again").count(), 0);
    assert.doesNotMatch((await page.content()) ?? "", /the-secret-of-this-client/);
    assert.deepEqual(complaints, []);
  });

  it("connects a cloud account, with errors at the field", async () => {
    await using console = await openConsole(browser, server, { path: address("accounts", "&dialog=new") });
    const { page } = console;
    await signIn(page, "owner");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("cloud");
    await dialog.getByLabel("AWS account").fill("12");
    await dialog.getByRole("button", { name: "Connect account" }).click();
    await dialog.locator("[name=account][aria-invalid=true]").waitFor();
    await dialog.getByLabel("AWS account").fill("123456789012");
    await dialog.getByRole("button", { name: "Connect account" }).click();
    await page.getByRole("row", { name: /123456789012/ }).waitFor();
  });

  for (const as of ["owner", "viewer"])
    it(`makes no call that is denied, as ${as}`, async () => {
      await using console = await openConsole(browser, server, { path: address("people") });
      const { page, complaints } = console;
      await signIn(page, as);
      for (const name of ["Sign-in", "Invites", "Login providers", "Cloud accounts", "People"]) {
        await page.getByRole("link", { name, exact: true }).click();
        await page
          .getByRole("button", { name: /Copy as/ })
          .first()
          .waitFor();
      }
      assert.deepEqual(complaints, []);
    });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await openConsole(browser, server, { path: address("people"), width, dark });
        const { page, complaints } = console;
        await signIn(page, "owner");
        for (const tab of tabs)
          for (const more of tab === "people" ? [""] : ["", "&dialog=new"]) {
            await page.goto(server.url + address(tab, more));
            await page
              .getByRole(more === "" ? "heading" : "dialog")
              .first()
              .waitFor();
            assert.deepEqual(await findProblems(page), [], `${tab}${more}`);
          }
        assert.deepEqual(complaints, []);
      });
});
