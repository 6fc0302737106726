// The API reference chooses what a uid stands for by name, in a real browser.
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
} from "./console.ts";

const iam = "/docs/api/chainguard.platform.iam.v2beta1";

describe("fields of uids in the API reference", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let [platform, bot, repo] = ["", "", ""];
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    await bindRole(server, "owner", "owner");
    await bindRole(server, "viewer", "viewer");
    platform = await createGroup(server, "platform team", server.groupUid);
    const claimMatch = { issuer: "https://ci.example.org", subject: "bot" };
    bot = await createResource(server, `identities/${platform}`, { name: "deploy bot", claimMatch });
    const made = await rest(server.url, server.ownerToken, "POST", `/registry/v2beta1/repos/${platform}`, {
      name: "shop",
    });
    repo = made.body.uid;
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function signIn(page: Page, name: string): Promise<void> {
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name, exact: true }).click();
  }

  /** Chooses by a part of the name. */
  async function choose(page: Page, field: string, typed: string, option: RegExp): Promise<void> {
    const input = page.getByRole("combobox", { name: new RegExp(`^${field}\\b`) });
    await input.fill(typed);
    await page.getByRole("option", { name: option }).click();
  }

  async function send(page: Page): Promise<string> {
    await page.getByRole("button", { name: "Send call" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send call" }).click();
    await page.getByText("✓ 200").waitFor();
    return await page.getByRole("region", { name: "Response" }).last().innerText();
  }

  it("group, identity and role of a body are chosen by name, a uid can be typed, and the call is that of the names", async () => {
    await using reference = await openConsole(browser, server, {
      path: `${iam}.RoleBindingsService/CreateRoleBinding`,
      width: 1440,
    });
    const { page, complaints } = reference;
    await signIn(page, "owner");
    const input = page.getByRole("combobox", { name: /^parent/ });
    const hint = page.locator(`[id="${await input.getAttribute("aria-describedby")}"]`);
    assert.equal(await hint.innerText(), "The uid of the group to create in.");
    await page.getByRole("button", { name: "Send call" }).click();
    await page.locator("[aria-invalid=true]:focus").and(input).waitFor();
    await choose(page, "parent", "team", /platform team/);
    await choose(page, "identityUid", "bot", /deploy bot/);
    await choose(page, "roleUid", "registry.pu", /registry\.push/);
    const call = page.getByRole("region", { name: "Call it" }).locator("pre").first();
    const code = (await call.textContent()) ?? "";
    for (const uid of [platform, bot, builtInRoleUid("registry.push")]) assert.ok(code.includes(uid), code);
    assert.deepEqual(await findProblems(page), []);
    const made = await send(page);
    assert.ok(made.includes(bot), made);
    const { body } = await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/roleBindings?identity=${bot}`);
    assert.deepEqual(
      body.roleBindings.map((one: { readonly role: { readonly name: string } }) => one.role.name),
      ["registry.push"],
    );

    const identity = page.locator(".field", { hasText: "identityUid" });
    await identity.getByRole("button", { name: "Type the uid" }).click();
    const typed = identity.getByRole("textbox");
    assert.equal(await typed.inputValue(), bot);
    await typed.fill("not a uid");
    await identity.getByText("must match").waitFor();
    await typed.fill(server.ownerUid);
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    const json = page.getByRole("textbox", { name: "Body" });
    assert.equal(JSON.parse(await json.inputValue()).identityUid, server.ownerUid);
    assert.deepEqual(complaints, []);
  });

  it("repos and people are found, by keyboard alone, and a name that is chosen again is kept in the form", async () => {
    await using known = await openConsole(browser, server, { path: "/console/me" });
    await known.page.getByRole("button", { name: "Sign in" }).click();
    await known.page.getByRole("link", { name: "viewer", exact: true }).click();
    await known.page.getByRole("heading", { name: "Me" }).waitFor();
    await using reference = await openConsole(browser, server, {
      path: "/docs/api/chainguard.platform.registry.v2beta1.TagsService/CreateTag",
    });
    const { page, complaints } = reference;
    await signIn(page, "owner");
    const parent = page.getByRole("combobox", { name: /^parent\b/ });
    await parent.focus();
    await page.getByText("Type a part of the name").waitFor();
    await page.keyboard.type("shop");
    await page.getByRole("option", { name: /shop/ }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.equal(await parent.inputValue(), "shop");
    const call = page.getByRole("region", { name: "Call it" }).locator("pre").first();
    assert.ok((await call.textContent())?.includes(repo));

    await page.goto(`${server.url}/docs/api/gatehouse.access.v1.AccessService/WhatCan`);
    await page.getByText(/^\d optional parameters$/).click();
    await choose(page, "identity", "view", /viewer/);
    await page.getByRole("button", { name: "Send call" }).click();
    await page.getByText("✓ 200").waitFor();
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  it("without a session a uid is typed, and the page reads no names", async () => {
    await using reference = await openConsole(browser, server, {
      path: `${iam}.RoleBindingsService/CreateRoleBinding`,
    });
    const { page, complaints } = reference;
    const calls: string[] = [];
    page.on("request", (request) => calls.push(request.url()));
    await page.getByRole("textbox", { name: /^identityUid/ }).fill(bot);
    assert.equal(await page.getByRole("button", { name: "Type the uid" }).count(), 0);
    assert.deepEqual(
      calls.filter((url) => /Service\//.test(new URL(url).pathname) && !url.includes("/docs/")),
      [],
    );
    assert.deepEqual(complaints, []);
  });
});
