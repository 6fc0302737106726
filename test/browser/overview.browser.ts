// The overview in a real browser: what needs attention with its actions, and the first steps of an empty organization.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addGroup, addIdentity, bind, ownerRole } from "../security/tree.ts";
import { addFindingExamples, type FindingExamples } from "../services/findings/finding-examples.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, findProblems, openConsole, signIn } from "./console.ts";

const hostile = '<img src=x onerror="alert(1)">\u202e';

describe("the overview", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let made: FindingExamples;
  let empty: string;
  const twins: string[] = [];
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    // With a second organization, the bar at the top has a switcher.
    empty = await addGroup(server, null, "empty.example");
    const person = userUid(`${server.config.baseUrl}/development/login`, "owner");
    await bind(server, empty, person, ownerRole.uid);
    const folder = await createGroup(server, "builds", server.groupUid);
    made = await addFindingExamples(server, server.groupUid, folder);
    const old = server.clock() - 60 * 24 * 3_600_000;
    const rule = { issuer: "https://token.actions.githubusercontent.com", subjectPattern: "repo:acme.*" };
    await addIdentity(server, folder, { name: "wide", relationship: { case: "claimMatch", value: rule } });
    for (let i = 0; i < 2; i++) twins.push(await createGroup(server, "twice", folder));
    await addIdentity(server, folder, { name: hostile, createTime: old, lastSeenTime: old });
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const address = (more = "") => `/console/o/${server.groupUid}/overview${more}`;
  const attention = (page: Page) => page.getByRole("region", { name: "Needs attention" });
  const rowOf = (page: Page, text: string | RegExp) => attention(page).getByRole("listitem").filter({ hasText: text });

  it("shows each finding with place, time and reason without a click, and hostile names as text", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await rowOf(page, /example\.org\/.*Failed 23 times: HTTP 503.*builds · first event/).waitFor();
    await rowOf(page, /ends soon.*builds · ends in 3 days/).waitFor();
    await rowOf(page, /Invite guest@example\.com.*no longer holds.*builds · made/).waitFor();
    await rowOf(page, /bot.*It holds viewer here.*granted/).waitFor();
    await rowOf(page, /unused.*Nobody has used it.*builds · created 30 days ago/).waitFor();
    await rowOf(page, /example\.org\/.*7 events were dropped after three days.*builds · last/).waitFor();
    await rowOf(page, /wide.*Its rule accepts tokens of another owner.*builds · created/).waitFor();
    await rowOf(page, /twice.*created an equal one at most a minute before.*builds · created/).waitFor();
    await rowOf(page, hostile).waitFor();
    await attention(page).getByRole("heading", { name: "2 identities were never used" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("leads from a count to the same identities in the filtered view", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await attention(page).getByRole("link", { name: "1 key ends within 14 days" }).click();
    await page.getByRole("row", { name: /ends soon/ }).waitFor();
    assert.equal(await page.getByRole("row", { name: /ends later/ }).count(), 0);
    await page.goBack();
    await attention(page).getByRole("link", { name: "2 identities were never used" }).click();
    await page.getByRole("row", { name: /unused/ }).waitFor();
    assert.equal(await page.locator("tbody tr").count(), 2);
    assert.deepEqual(complaints, []);
  });

  it("opens what settles a finding: the keys of an identity, its deletion, the reason and the end of a role", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await rowOf(page, "ends soon").getByRole("link", { name: "Extend keys" }).click();
    await page.getByRole("dialog").waitFor();
    await page.goto(server.url + address());
    await rowOf(page, /^unused/)
      .getByRole("link", { name: "Delete identity" })
      .click();
    await page.getByRole("dialog", { name: /unused/ }).waitFor();
    await page.goto(server.url + address());
    await rowOf(page, /^bot/).getByRole("link", { name: "Why?" }).click();
    await page.getByRole("row", { name: /bot.*confined/ }).waitFor();
    await page.goto(server.url + address());
    await rowOf(page, /^bot/).getByRole("link", { name: "Revoke role" }).click();
    await page.getByRole("dialog", { name: /Revoke/ }).waitFor();
    await page.goto(server.url + address());
    await rowOf(page, /^twice/)
      .getByRole("link", { name: "Show the other" })
      .click();
    await page.waitForURL(
      (url) => url.pathname.endsWith(`/groups/${twins[0]}`) || url.pathname.endsWith(encodeURIComponent(twins[0]!)),
    );
    await page.goto(server.url + address());
    await rowOf(page, /^wide/).getByRole("link", { name: "Who gets in?" }).click();
    await page
      .getByText(/a repository of another owner/)
      .first()
      .waitFor();
    assert.deepEqual(complaints, []);
  });

  it("shows all of a kind at an address of its own", async () => {
    await using console = await openConsole(browser, server, { path: address("?finding=inactive") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await rowOf(page, "guest@example.com").waitFor();
    assert.equal(await attention(page).getByRole("listitem").count(), 1);
    assert.deepEqual(await findProblems(page), []);
    await attention(page).getByRole("link", { name: "All findings" }).click();
    await rowOf(page, "ends soon").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("disables what the viewer may not do, and says why", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "viewer");
    for (const [text, name, capability] of [
      ["HTTP 503", "Retry now", "subscriptions.create"],
      ["ends soon", "Extend keys", "identity.update"],
      ["guest@example.com", "Revoke invite", "group_invites.delete"],
      ["guest@example.com", "Take over", "group_invites.create"],
    ] as const) {
      const button = rowOf(page, text).getByRole("button", { name });
      assert.equal(await button.getAttribute("aria-disabled"), "true");
      await rowOf(page, text).getByText(capability).first().waitFor({ state: "attached" });
    }
    await page.goto(server.url + address(`?dialog=revoke&resource=${made.invite}`));
    await rowOf(page, "guest@example.com").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.equal(await page.getByRole("heading", { name: "First steps" }).count(), 0);
    assert.deepEqual(complaints, []);
  });

  it("shows nothing to a stranger", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "stranger");
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    assert.equal(await attention(page).count(), 0);
    assert.deepEqual(complaints, []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}, also with a dialog`, async () => {
        await using console = await openConsole(browser, server, { path: address(), width, dark });
        const { page, complaints } = console;
        await signIn(page, "owner");
        await rowOf(page, "ends soon").waitFor();
        assert.deepEqual(await findProblems(page), []);
        for (const dialog of ["revoke", "confirm"]) {
          await page.goto(server.url + address(`?dialog=${dialog}&resource=${made.invite}`));
          await page.getByRole("dialog").waitFor();
          assert.deepEqual(await findProblems(page), [], dialog);
        }
        assert.deepEqual(complaints, []);
      });

  it("retries a delivery, and confirms an invite by keyboard, which settles it", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await rowOf(page, "HTTP 503").getByRole("button", { name: "Retry now" }).click();
    await page.getByText("The next attempt starts now").waitFor();
    const confirm = rowOf(page, "guest@example.com").getByRole("button", { name: "Take over" });
    await confirm.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await confirm.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Control+Enter");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await rowOf(page, "guest@example.com").waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);
  });

  it("leads through the first steps of an empty organization, and marks what is done", async () => {
    await using console = await openConsole(browser, server, { path: `/console/o/${empty}/overview` });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("button", { name: "Join" }).click();
    const steps = page.getByRole("region", { name: "First steps" });
    await steps.getByText("0 of 6 done").waitFor();
    for (const name of ["New identity", "New invite", "Connect a provider", "Open the registry", "New subscription"])
      await steps.getByRole("link", { name }).waitFor();
    await attention(page).getByText("Nothing needs your attention.").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await steps.getByRole("link", { name: "New group" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("team");
    await dialog.getByRole("button", { name: "Create group" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.goto(`${server.url}/console/o/${empty}/overview`);
    await steps.getByRole("listitem").filter({ hasText: "Add a group" }).getByText("Done").waitFor();
    await steps.getByRole("link", { name: "New identity" }).click();
    await dialog.waitFor();
    const ci = await addIdentity(server, empty);
    await bind(server, empty, ci, ownerRole.uid);
    await page.goto(`${server.url}/console/o/${empty}/overview`);
    await steps.getByText("2 of 6 done").waitFor();
    // A second person is a fact, too: their invite is gone.
    await bind(server, empty, userUid(`${server.config.baseUrl}/development/login`, "viewer"), ownerRole.uid);
    await page.goto(`${server.url}/console/o/${empty}/overview`);
    await steps.getByText("3 of 6 done").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("shows the first steps of a full organization until they are closed, and remembers that", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const steps = page.getByRole("region", { name: "First steps" });
    for (const name of ["Add a group", "Connect CI", "Invite a person", "Receive events"])
      await steps.getByRole("listitem").filter({ hasText: name }).getByText("Done").waitFor();
    await steps.getByRole("link", { name: "Connect a provider" }).click();
    await page.getByRole("dialog").waitFor();
    await page.goto(server.url + address());
    await steps.getByRole("button", { name: "Close the first steps" }).click();
    await steps.waitFor({ state: "detached" });
    await page.reload();
    await rowOf(page, "ends soon").waitFor();
    assert.equal(await steps.count(), 0);
    assert.deepEqual(complaints, []);
  });
});
