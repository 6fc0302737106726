// People, invites, login providers and cloud accounts in a real browser.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, findProblems, openConsole, signIn } from "./console.ts";

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
    await invited.page.getByRole("heading", { name: "Overview of example.org" }).waitFor();
    const code = url.slice(url.indexOf("=") + 1);
    assert.deepEqual(
      seen.filter((one) => one.includes(code)),
      [],
    );
    await page.getByRole("link", { name: "People" }).click();
    await page.getByRole("row", { name: /newcomer/ }).waitFor();
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
      for (const name of ["Invites", "Login providers", "Cloud accounts", "People"]) {
        await page.getByRole("navigation", { name: "Parts of identities" }).getByRole("link", { name }).click();
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
