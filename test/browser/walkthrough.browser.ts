// The walkthrough of the specification in the console, by mouse and by keyboard alone: a group, an identity, a role for it, and all of it
// taken away again in the order that the rules ask for.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, findProblems, openConsole, signIn } from "./console.ts";

describe("the walkthrough in the console", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    await bindRole(server, "owner", "owner");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const groupsNamed = async (name: string) => {
    const path = `/iam/v2beta1/groups?name=${name}&uidp.descendants_of=${server.groupUid}`;
    return (await rest(server.url, server.ownerToken, "GET", path)).body.groups as readonly { readonly uid: string }[];
  };

  /** Chooses an option of a field with search: types, and takes what is offered. */
  async function pick(page: Page, label: string, text: string): Promise<void> {
    const field = page.getByRole("dialog").getByRole("combobox", { name: label, exact: true });
    await field.fill(text);
    await page.getByRole("dialog").getByRole("option", { name: text }).first().click();
  }

  it("all steps can be done by mouse", async () => {
    await using console = await openConsole(browser, server);
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: "Overview of example.org" }).waitFor();
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Groups" }).click();
    await page.getByRole("button", { name: "New group" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("mouse");
    await page.getByRole("dialog").getByRole("button", { name: "Create group" }).click();
    await page.getByRole("heading", { name: "mouse" }).waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog").getByLabel("Description").fill("Made by mouse");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByText("Made by mouse").first().waitFor();

    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Workloads" }).click();
    await page.getByRole("button", { name: "New identity" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "GitHub Actions" }).click();
    await dialog.getByLabel("Name").fill("mouse-job");
    await dialog.getByLabel("Owner and repository").fill("acme/app");
    await dialog.getByLabel(/^Branch/).fill("main");
    await dialog
      .getByText(/acme.*app.*refs\/heads\/main/)
      .first()
      .waitFor();
    await pick(page, "Group", "mouse");
    await dialog.getByRole("button", { name: "Create identity" }).click();
    await dialog.getByRole("radio", { name: "Read everything there" }).check();
    await dialog.getByText(/Gains/).waitFor();
    await dialog.getByRole("button", { name: "Grant role" }).click();
    await dialog.getByText("id-token: write").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("heading", { name: "mouse-job" }).waitFor();

    const [group] = await groupsNamed("mouse");
    await page.goto(`${server.url}/console/o/${server.groupUid}/access?group=${encodeURIComponent(group!.uid)}`);
    const row = page.locator("tr[data-key]").filter({ hasText: "mouse-job" });
    await row.getByText("viewer here").click();
    await page.getByRole("menuitem", { name: "Revoke role binding" }).click();
    await page.getByRole("dialog").getByText(/Loses/).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke role binding" }).click();
    await row.waitFor({ state: "detached" });

    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Workloads" }).click();
    await page.getByRole("link", { name: "mouse-job" }).click();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete identity" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.goto(`${server.url}/console/o/${server.groupUid}/groups/${group!.uid}?dialog=delete`);
    await page
      .getByRole("dialog")
      .getByLabel(/Type mouse/)
      .fill("mouse");
    await page.getByRole("dialog").getByRole("button", { name: "Delete group" }).click();
    await page.getByText("Group mouse deleted").waitFor();
    assert.deepEqual(await groupsNamed("mouse"), []);
    assert.deepEqual(complaints, []);
  });

  it("all steps can be done by keyboard alone", async () => {
    await using console = await openConsole(browser, server);
    const { page, complaints } = console;
    await page.getByRole("heading", { name: "Sign in to Gatehouse" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const owner = page.getByRole("link", { name: "owner", exact: true });
    await owner.waitFor();
    await tabTo(page, "owner");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Overview of example.org" }).waitFor();

    await page.keyboard.type("gg");
    await page.getByRole("heading", { name: "Groups" }).waitFor();
    await page.keyboard.press("n");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("keys");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "keys" }).waitFor();
    const [group] = await groupsNamed("keys");

    await page.keyboard.type("gw");
    await page.getByRole("heading", { name: "Workloads" }).waitFor();
    await page.keyboard.press("n");
    await page.getByRole("dialog").getByText("Where does the workload run?").waitFor();
    await tabTo(page, "GitHub Actions");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByLabel("Name").waitFor();
    await tabToField(page, "Name");
    await page.keyboard.type("keys-job");
    await tabToField(page, "Owner and repository");
    await page.keyboard.type("acme/keys");
    await tabToField(page, "Branch");
    await page.keyboard.type("main");
    await tabToField(page, "Group");
    await chooseByKeys(page, "keys");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("dialog").getByText("What does keys-job do?").waitFor();
    await tabToField(page, "Pull images");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.getByRole("dialog").getByText(/Gains/).waitFor();
    await page.keyboard.press("Control+Enter");
    await page.getByRole("dialog").getByText("id-token: write").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "keys-job" }).waitFor();

    // From another view: on the page itself, nothing would show that the jump is done and that its keys work again.
    await page.keyboard.type("gg");
    await page.getByRole("heading", { name: "Groups" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Jump to" }).waitFor();
    await page.keyboard.type("keys-job");
    await page
      .getByRole("dialog")
      .getByRole("option", { name: /keys-job/ })
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Jump to" }).waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "keys-job" }).waitFor();
    await page.keyboard.press("Delete");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Control+Enter");
    await page.getByText("Identity keys-job deleted").waitFor();

    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Jump to" }).waitFor();
    await page.keyboard.type(group!.uid);
    await page.getByRole("dialog").getByRole("option", { name: /keys/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "keys" }).waitFor();
    await page.keyboard.press("Delete");
    await page
      .getByRole("dialog")
      .getByLabel(/Type keys/)
      .waitFor();
    await page.keyboard.type("keys");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Group keys deleted").waitFor();
    assert.deepEqual(await groupsNamed("keys"), []);
    // Keys are fast: a read of what the page shows may reach the server after the deletion.
    assert.deepEqual(
      complaints.filter((text) => !text.includes("404 (Not Found)")),
      [],
    );
  });
});

/** The number of times that Tab is pressed before an element counts as unreachable. */
const maxTabs = 60;

/** Presses Tab until the focus is on something whose text is this. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let i = 0; i < maxTabs; i++) {
    const focused = await page.evaluate("document.activeElement?.textContent?.trim()");
    if (focused === text) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab does not lead to ${text}`);
}

/** The same for the field of a label. */
async function tabToField(page: Page, label: string): Promise<void> {
  for (let i = 0; i < maxTabs; i++) {
    const labels = await page.evaluate(
      "[...(document.activeElement?.labels ?? [])].map((one) => one.textContent.trim()).join()",
    );
    if (labels === label) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab does not lead to the field ${label}`);
}

/** Types into the focused field with search, and takes the first option. */
async function chooseByKeys(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+a");
  await page.keyboard.type(text);
  await page.getByRole("dialog").getByRole("option", { name: text }).first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
}
