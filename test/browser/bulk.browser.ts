// Actions on several rows of a list in the console: selection, results for each row, and what is asked before.
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
  createResource,
  findProblems,
  openConsole,
  signIn,
} from "./console.ts";

const total = 3008;

/** Returns an OSV record of an advisory without texts. */
function record(number: number): object {
  const id = `GHSA-2031-${String(number).padStart(4, "0")}`;
  const name = `package-${String(number).padStart(4, "0")}`;
  return {
    source: "osv",
    document: id,
    vulnerability: id,
    advisoryId: id,
    format: "RECORD_FORMAT_OSV",
    modifyTime: "2026-01-02T03:04:05.000Z",
    publishTime: "2025-01-02T03:04:05.000Z",
    statements: [{ product: { purl: `pkg:npm/${name}`, ecosystem: "npm", name }, status: "PRODUCT_STATUS_AFFECTED" }],
  };
}

describe("actions on several rows in the console", { timeout: 900_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer({});
    await bindRole(server, "owner", "owner");
    await bindRole(server, "operator", "operator");
    await bindRole(server, "viewer", "viewer");
    for (let at = 0; at < total; at += 200) {
      const records = Array.from({ length: Math.min(200, total - at) }, (_, i) => record(at + i));
      const path = `/gatehouse/vulnerabilities/v1/records/${server.groupUid}:import`;
      const { status, body } = await rest(server.url, server.ownerToken, "POST", path, { records });
      assert.equal(status, 200, JSON.stringify(body));
    }
    for (let number = 0; number < 60; number++)
      await createResource(server, `identities/${server.groupUid}`, {
        name: `job-${String(number).padStart(2, "0")}`,
        claimMatch: { issuer: "https://issuer.example.org", subject: `job-${number}` },
      });
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function openList(path: string, name = "owner") {
    const console = await openConsole(browser, server, { path: `/console/o/${server.groupUid}/${path}` });
    await signIn(console.page, name);
    await console.page.locator("tr[data-key]").first().waitFor();
    return console;
  }

  /** Returns how many advisories have the status. */
  async function countOf(status: string): Promise<number> {
    const path = `/gatehouse/vulnerabilities/v1/advisories:search`;
    const list = { uidp: { descendantsOf: server.groupUid }, latestEventType: status };
    const { body } = await rest(server.url, server.ownerToken, "POST", path, { list });
    return Number(body.totalCount);
  }

  /** Returns how many role bindings have a built-in role. */
  async function bindingsOf(role: string): Promise<number> {
    const path = `/iam/v2beta1/roleBindings?role=${builtInRoleUid(role)}`;
    const { body } = await rest(server.url, server.ownerToken, "GET", path);
    return body.roleBindings.length;
  }

  /** Returns the figures of the dialog: "120 of 300 done, 2 failed, 178 untouched". */
  async function figures(page: Page) {
    const text = (await page.getByRole("dialog").getByRole("status").first().textContent()) ?? "";
    const of = (word: string) => Number(new RegExp(`(\\d+)[^,]* ${word}`).exec(text)?.[1] ?? 0);
    return { done: of("done"), failed: of("failed"), untouched: of("untouched") };
  }

  /** Returns the uids of the advisories in the order of their list in the console. */
  async function uidsByPublication(): Promise<string[]> {
    const request = { list: { uidp: { descendantsOf: server.groupUid }, pageSize: 50 }, orderBy: "published desc" };
    const path = "/gatehouse/vulnerabilities/v1/advisories:search";
    const { body } = await rest(server.url, server.ownerToken, "POST", path, request);
    return body.results.map(({ advisory }: { advisory: { uid: string } }) => advisory.uid);
  }

  /** Moves the focus by Tab until it is on an element with a text. */
  async function tabTo(page: Page, selector: string, text = /(?:)/): Promise<void> {
    const wanted = `(() => { const at = document.activeElement; return at.matches(${JSON.stringify(selector)}) && ${text}.test((at.labels?.[0] ?? at).textContent); })()`;
    for (let stop = 0; stop < 80; stop++) {
      if (await page.evaluate(wanted)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not reach ${selector} ${text}`);
  }

  /** Goes to the radio buttons that have a choice, and makes it. */
  async function choose(page: Page, text: string): Promise<void> {
    const choice = dialog(page).getByRole("radio", { name: new RegExp(text) });
    const group = await choice.getAttribute("name");
    await tabTo(page, `input[name="${group}"]`);
    for (let at = 0; at < 12 && !(await choice.isChecked()); at++) await page.keyboard.press("ArrowDown");
    assert.ok(await choice.isChecked(), text);
  }

  const dialog = (page: Page) => page.getByRole("dialog");

  it("a list of 3,008 rows scrolls as a whole with less than 200 rows in the document, and keeps the row that has the focus", async () => {
    await using console = await openList("advisories/");
    const { page, complaints } = console;
    const table = page.getByRole("table", { name: "Advisories" });
    assert.equal(await table.getAttribute("aria-rowcount"), "3009");
    await page.locator("tr[data-key]").first().focus();
    await page.keyboard.press("End");
    await page.locator('tr[data-key][aria-rowindex="3009"]').waitFor();
    assert.equal(await page.evaluate("document.activeElement.ariaRowIndex"), "3009");
    await page.keyboard.press("Home");
    await page.locator('tr[data-key][aria-rowindex="2"]').waitFor();
    let most = 0;
    await table.hover();
    for (let turn = 0; turn < 40; turn++) {
      await page.mouse.wheel(0, 1500);
      most = Math.max(most, await page.locator("tr").count());
    }
    assert.ok(most < 200, `${most} rows`);
    assert.equal(await page.evaluate("document.activeElement.ariaRowIndex"), "2");
    await page.locator("tr[data-key]").nth(3).waitFor();
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  it("300 of 3,008 advisories get an event by keyboard alone, until Stop: each is done, failed with its reason, or untouched", async () => {
    await using console = await openList("advisories/", "operator");
    const { page, complaints } = console;
    await page.getByText("3,008 results").waitFor();
    await tabTo(page, "tr[data-key]");
    await page.keyboard.press("Space");
    for (let at = 1; at < 300; at++) await page.keyboard.press("Shift+ArrowDown");
    const bar = page.getByRole("region", { name: "Selection" });
    await bar.getByText("300 selected").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press(".");
    await page.keyboard.press("Enter");
    await dialog(page).getByRole("heading", { name: "Add an event to 300 advisories" }).waitFor();
    await choose(page, "waiting for upstream");
    await choose(page, "Approved");
    assert.deepEqual(await findProblems(page), []);
    // Others delete five of them meanwhile.
    await page.route("**/CreateAdvisoryEvent", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 40));
      await route.continue();
    });
    for (const uid of (await uidsByPublication()).slice(10, 15)) {
      const deleted = await rest(server.url, server.ownerToken, "DELETE", `/vulnerabilities/v1/advisories/${uid}`);
      assert.equal(deleted.status, 200, JSON.stringify(deleted.body));
    }
    await page.keyboard.press("Control+Enter");
    await dialog(page)
      .getByText(/^[1-9]\d of 300 done/)
      .waitFor();
    // Stop has the focus while the action is under way.
    await page.keyboard.press("Enter");
    await dialog(page)
      .getByRole("button", { name: /^Go on with/ })
      .waitFor();
    const stopped = await figures(page);
    assert.equal(stopped.done + stopped.failed + stopped.untouched, 300);
    assert.equal(stopped.failed, 5);
    assert.ok(stopped.untouched > 0, JSON.stringify(stopped));
    assert.equal(await countOf("EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX"), stopped.done);
    const results = dialog(page).getByRole("region", { name: "Results" }).getByRole("listitem");
    const failed = results.filter({ hasText: /failed$/ });
    assert.equal(await failed.count(), 5);
    for (const text of await failed.allTextContents()) assert.match(text, /^GHSA-.+not there any more.+failed$/);
    assert.deepEqual(await findProblems(page), []);
    await tabTo(page, "button", /^Go on with/);
    await page.keyboard.press("Enter");
    await dialog(page).getByText("295 of 300 done, 5 failed", { exact: true }).waitFor();
    assert.equal(await countOf("EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX"), 295);
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    await bar.getByText("5 selected").waitFor();
    assert.deepEqual(
      complaints.filter((text) => !text.includes("404 (Not Found)")),
      [],
    );
  });

  it("deleting more than ten asks for their number; what is gone already counts as done, and the list is right afterwards", async () => {
    await using console = await openList("workloads/?filter=job-");
    const { page, complaints } = console;
    const row = (name: string) => page.locator("tr[data-key]").filter({ hasText: name });
    await row("job-00").getByRole("checkbox").check();
    await row("job-11")
      .getByRole("checkbox")
      .click({ modifiers: ["Shift"] });
    const bar = page.getByRole("region", { name: "Selection" });
    await bar.getByText("12 selected").waitFor();
    const gone = (await row("job-05").getAttribute("data-key")) ?? "";
    await rest(server.url, server.ownerToken, "DELETE", `/iam/v2beta1/identities/${gone}`);
    await bar.getByRole("button", { name: "Delete identity" }).click();
    const remove = dialog(page).getByRole("button", { name: "Delete workloads" });
    await remove.waitFor();
    assert.equal(await remove.isDisabled(), true);
    await dialog(page).getByLabel("Type 12 to confirm").fill("11");
    assert.equal(await remove.isDisabled(), true);
    await dialog(page).getByLabel("Type 12 to confirm").fill("12");
    await remove.click();
    await dialog(page).getByText("12 of 12 done", { exact: true }).waitFor();
    await dialog(page).getByRole("button", { name: "Close" }).last().click();
    await row("job-12").waitFor();
    assert.equal(await row("job-11").count(), 0);
    await page.getByText("1–48 of 48").waitFor();
    assert.deepEqual(
      complaints.filter((text) => !text.includes("404 (Not Found)")),
      [],
    );
  });

  it("a role is given to ten workloads and taken again, by keyboard alone", async () => {
    await using console = await openList("workloads/?filter=job-5");
    const { page, complaints } = console;
    await page.locator("tr[data-key]").first().focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowUp");
    const bar = page.getByRole("region", { name: "Selection" });
    await bar.getByText("2 selected").waitFor();
    for (let at = 2; at < 10; at++) await page.keyboard.press("Shift+ArrowDown");
    await bar.getByText("10 selected").waitFor();
    await page.keyboard.press(".");
    await page.keyboard.press("Enter");
    await dialog(page).getByRole("combobox", { name: "Role" }).waitFor();
    await dialog(page).getByRole("combobox", { name: "Role" }).focus();
    await page.keyboard.type("actions.viewer");
    await page
      .getByRole("option", { name: /viewer/ })
      .first()
      .waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await dialog(page).locator('button[type="submit"]:not([disabled])').waitFor();
    await page.keyboard.press("Control+Enter");
    await dialog(page).getByText("10 of 10 done", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await dialog(page).waitFor({ state: "detached" });
    assert.equal(await bindingsOf("actions.viewer"), 10);
    await page.locator("tr[data-key]").first().focus();
    await page.keyboard.press("Space");
    for (let at = 1; at < 10; at++) await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press(".");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await dialog(page).getByRole("heading", { name: "Remove 10 roles" }).waitFor();
    await page.keyboard.press("Control+Enter");
    await dialog(page).getByText("10 of 10 done", { exact: true }).waitFor();
    assert.equal(await bindingsOf("actions.viewer"), 0);
    assert.deepEqual(complaints, []);
  });

  it("an action that the caller may not do says what is missing", async () => {
    await using console = await openList("workloads/", "viewer");
    const { page, complaints } = console;
    await page.getByRole("checkbox", { name: "Select all on this page" }).check();
    const bar = page.getByRole("region", { name: "Selection" });
    await bar.getByRole("button", { name: "Delete identity" }).click({ force: true });
    await page
      .getByRole("status")
      .getByText(/You lack identity.delete/)
      .waitFor();
    assert.equal(await dialog(page).count(), 0);
    assert.deepEqual(complaints, []);
  });
});
