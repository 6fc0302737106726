// The addresses of objects that do not exist, or that the caller may not see, in a real browser.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { insertMembership } from "../../src/storage/iam/memberships.ts";
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
import { objectPaths, viewPaths } from "./views.ts";

const nothing = /There is nothing at this address/;

describe("addresses of objects that are not there", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let [web, data] = ["", ""];
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    await bindRole(server, "owner", "owner");
    web = await createGroup(server, "web", server.groupUid);
    data = await createGroup(server, "data", server.groupUid);
    const identityUid = userUid(`${server.config.baseUrl}/development/login`, "member");
    await createResource(server, `roleBindings/${web}`, { identityUid, roleUid: builtInRoleUid("viewer") });
    await arrange(server, (tx) => insertMembership(tx, { identityUid, groupUid: server.groupUid }));
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** Opens an address, waits for a text of the page, and returns what is wrong there. */
  async function problemsAt(page: Page, path: string, text: RegExp): Promise<string[]> {
    await page.goto(server.url + path);
    const found = page.getByRole("main").getByText(text).first();
    const isShown = await found.waitFor({ timeout: 10_000 }).then(
      () => true,
      () => false,
    );
    const headings = await page.locator("h1").allInnerTexts();
    const title = await page.title();
    return [
      ...(isShown ? [] : [`does not say ${text}`]),
      ...(headings.length === 1 ? [] : [`has ${headings.length} headings`]),
      ...(title === `${headings[0]} – Gatehouse` ? [] : [`has the title "${title}"`]),
      ...(await findProblems(page)),
    ].map((problem) => `${path}: ${problem}`);
  }

  it("the page of an object that does not exist has a heading and says so, for every kind", async () => {
    await using console = await openConsole(browser, server, { path: "/console/me" });
    await signIn(console.page, "owner");
    await console.page.getByRole("heading", { name: "Me" }).waitFor();
    const problems: string[] = [];
    const objects = objectPaths(server.groupUid, `${server.groupUid}/0123456789abcdef`);
    for (const path of [...objects, `/console/o/${server.groupUid}/people/${"0".repeat(40)}`])
      problems.push(...(await problemsAt(console.page, path, nothing)));
    assert.deepEqual(problems, []);
  });

  it("the page of an object in a group without a role of the caller has a heading, and makes no denied call, for every kind", async () => {
    await using console = await openConsole(browser, server, { path: "/console/me" });
    await signIn(console.page, "member");
    await console.page.getByRole("heading", { name: "Me" }).waitFor();
    const problems: string[] = [];
    for (const path of objectPaths(server.groupUid, `${data}/0123456789abcdef`))
      problems.push(...(await problemsAt(console.page, path, /You may not see this|There is nothing at this address/)));
    assert.deepEqual(problems, []);
    // Only the server knows who may see an access request: its approvers need no role in the group.
    const notFound = "Failed to load resource: the server responded with a status of 404 (Not Found)";
    const { complaints } = console;
    assert.deepEqual(complaints, [
      `${notFound}: ${server.url}/gatehouse.access.v1.AccessRequestsService/GetAccessRequest`,
    ]);
  });

  it("every view of an organization that does not exist has a heading and says so", async () => {
    await using console = await openConsole(browser, server, { path: "/console/me" });
    await signIn(console.page, "owner");
    await console.page.getByRole("heading", { name: "Me" }).waitFor();
    const unknown = "0".repeat(40);
    const problems: string[] = [];
    for (const path of viewPaths(unknown).filter((one) => one.includes(unknown)))
      problems.push(...(await problemsAt(console.page, path, nothing)));
    assert.deepEqual(problems, []);
    assert.deepEqual(console.complaints, []);
  });
});
