// The view Events in a real browser: whether events arrive, why not, retries, new and deleted subscriptions.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, type ConsolePage, createGroup, findProblems, openConsole, signIn } from "./console.ts";
import { untilQuiet } from "./quiet.ts";
import { openReceiver, type Receiver } from "./receiver.ts";

const hostile = "<img src=x onerror=alert(1)>";

describe("the view Events", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let good: Receiver;
  let bad: Receiver;
  let [failing, engineering] = ["", ""];
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer({ settings: { eventDelivery: "on" } });
    engineering = await createGroup(server, "engineering", server.groupUid);
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    good = await openReceiver({ status: 200, text: "thanks" });
    bad = await openReceiver({ status: 503, text: `${hostile}\nmore` }, "/<script>alert(1)</script>");
    await subscribe(good.url);
    failing = await subscribe(bad.url, engineering);
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
    for (const receiver of [good, bad]) receiver?.close();
  });

  async function subscribe(sink: string, parent = server.groupUid): Promise<string> {
    const path = `/events/v2beta1/subscriptions/${parent}`;
    const { status, body } = await rest(server.url, server.ownerToken, "POST", path, { sink });
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.uid;
  }

  /** Opens the view, and signs in. */
  async function openEvents(
    selected = "",
    options: { readonly as?: string; readonly width?: number; readonly dark?: boolean } = {},
  ): Promise<ConsolePage> {
    const { as = "owner", ...rest } = options;
    const path = `/console/o/${server.groupUid}/events/${selected}`;
    const console = await openConsole(browser, server, { path, ...rest });
    await signIn(console.page, as);
    await console.page.getByRole("heading", { level: 1 }).waitFor();
    return console;
  }

  const listOf = (page: Page) => page.getByRole("table", { name: "Subscriptions and their deliveries" });
  const attemptsOf = (page: Page) => page.getByRole("table", { name: "Latest attempts" });

  it("shows which subscriptions get their events, and what the others answer", async () => {
    await using console = await openEvents();
    const { page, complaints } = console;
    await listOf(page).getByRole("row").filter({ hasText: good.url }).getByText("delivered").waitFor();
    const row = listOf(page).getByRole("row").filter({ hasText: bad.url });
    await row.getByText(/failed/).waitFor();
    await row.getByText("the sink answered 503").waitFor();
    await row.getByText("engineering").waitFor();
    await row.getByRole("link").click();
    await page.getByRole("heading", { name: bad.url }).waitFor();
    await attemptsOf(page).getByText(hostile).first().waitFor();
    await attemptsOf(page).getByText("events.subscription.created.v1").first().waitFor();
    assert.equal(await page.locator("img").count(), 0);
    await page.getByText("Receiver that verifies the signature").click();
    await page.getByText(`const subject = "webhook:${engineering}";`).waitFor();
    assert.equal(new URL(page.url()).pathname, `/console/o/${server.groupUid}/events/${failing}`);
    assert.deepEqual(complaints, []);
  });

  it("retries at once, and shows by itself that the event arrived", async () => {
    const receiver = await openReceiver({ status: 500, text: "broken" });
    const uid = await subscribe(receiver.url);
    try {
      await using console = await openEvents(uid);
      const { page, complaints } = console;
      const details = page.getByRole("region", { name: receiver.url });
      await attemptsOf(page).getByText("broken").first().waitFor();
      await details.getByRole("button", { name: "Retry now" }).click();
      await page.getByText("The next attempt starts now").waitFor();
      receiver.answer = { status: 200, text: "mended" };
      await attemptsOf(page).getByText("mended").first().waitFor();
      await details.getByText("delivered").waitFor();
      await details.getByRole("button", { name: "Retry now" }).waitFor({ state: "detached" });
      assert.deepEqual(complaints, []);
    } finally {
      await rest(server.url, server.ownerToken, "DELETE", `/events/v2beta1/subscriptions/${uid}`);
      receiver.close();
    }
  });

  it("sends a test event by one click and an event again by two, and shows what was sent and answered", async () => {
    const receiver = await openReceiver({ status: 500, text: hostile });
    const uid = await subscribe(receiver.url, await createGroup(server, "tested", server.groupUid));
    try {
      await using console = await openEvents(uid);
      const { page, complaints } = console;
      const panel = page.getByRole("dialog", { name: "Attempt to deliver" });
      await page.getByRole("button", { name: "Send test event" }).click();
      await panel.getByText("the sink answered 500").waitFor();
      await panel.getByText("Answer with a status of 2xx.").waitFor();
      await panel.getByRole("region", { name: "Request" }).getByText(uid).first().waitFor();
      await panel.getByRole("region", { name: "Answer of the sink" }).getByText(hostile).waitFor();
      assert.equal(await panel.getByRole("button", { name: "Send again" }).count(), 0);
      await page.keyboard.press("Escape");
      await panel.waitFor({ state: "detached" });
      receiver.answer = { status: 200, text: "mended" };
      await page.getByRole("region", { name: receiver.url }).getByRole("button", { name: "Retry now" }).click();
      const delivered = attemptsOf(page).getByRole("row").filter({ hasText: "mended" });
      await delivered.first().waitFor();
      await delivered.getByRole("link", { name: "events.subscription.created.v1" }).click();
      await panel.getByText("delivered", { exact: true }).waitFor();
      receiver.answer = { status: 200, text: "twice" };
      await panel.getByRole("button", { name: "Send again" }).click();
      await page.getByText("The event is sent again").waitFor();
      await page.keyboard.press("Escape");
      await attemptsOf(page).getByRole("row").filter({ hasText: "twice" }).waitFor();
      assert.equal(await page.locator("img").count(), 0);
      assert.deepEqual(complaints, []);
    } finally {
      await rest(server.url, server.ownerToken, "DELETE", `/events/v2beta1/subscriptions/${uid}`);
      receiver.close();
    }
  });

  it("pauses and resumes a subscription, and changes its sink, its kinds and its description", async () => {
    const [before, later] = [
      await openReceiver({ status: 200, text: "before" }),
      await openReceiver({ status: 200, text: "later" }, "/later"),
    ];
    const group = await createGroup(server, "resting", server.groupUid);
    const uid = await subscribe(before.url, group);
    try {
      await using console = await openEvents(uid);
      const { page, complaints } = console;
      await attemptsOf(page).getByText("before").waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      await listOf(page).getByRole("row").filter({ hasText: before.url }).getByText("paused").waitFor();
      await createGroup(server, "while-paused", group);
      await page.getByRole("button", { name: "Edit" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Sink").fill(later.url);
      await dialog.getByLabel("Kinds").fill("groups, nothing");
      await dialog.getByLabel("Description").fill(hostile);
      await dialog.getByRole("button", { name: "Save subscription" }).click();
      await dialog.getByText(/must be one of .*account_associations/).waitFor();
      await dialog.getByLabel("Kinds").fill("groups, roles");
      await dialog.getByRole("button", { name: "Save subscription" }).click();
      const details = page.getByRole("region", { name: later.url });
      await details.getByText("groups, roles").waitFor();
      await details.getByText(hostile).waitFor();
      await details.getByRole("button", { name: "Resume" }).click();
      await attemptsOf(page).getByRole("row").filter({ hasText: "later" }).waitFor();
      await details.getByRole("button", { name: "Pause" }).waitFor();
      // Chromium logs the 400 of the unknown kind.
      assert.deepEqual(
        complaints.filter((line) => !line.includes("400")),
        [],
      );
    } finally {
      await rest(server.url, server.ownerToken, "DELETE", `/events/v2beta1/subscriptions/${uid}`);
      for (const receiver of [before, later]) receiver.close();
    }
  });

  it("has the server check a URL before it creates a subscription, and deletes it", async () => {
    await using console = await openEvents();
    const { page, complaints } = console;
    await page.getByRole("button", { name: "New subscription" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Sink").fill("https://user:secret@example.org/");
    await dialog.getByRole("button", { name: "Create subscription" }).click();
    await dialog.getByText(/must be an https URL/).waitFor();
    await dialog.getByLabel("Sink").fill("https://localhost/callback");
    await dialog.getByRole("button", { name: "Create subscription" }).click();
    await dialog.getByText(/an attempt would fail now: the address of the host is not public/).waitFor();
    await dialog.getByRole("button", { name: "Create anyway" }).click();
    await page.getByRole("heading", { name: "https://localhost/callback" }).waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog", { name: "Delete the subscription of https://localhost/callback" }).waitFor();
    await page.getByRole("button", { name: "Delete subscription" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await listOf(page).getByText("localhost/callback").waitFor({ state: "detached" });
    // Chromium logs the 400 of the first URL.
    assert.deepEqual(
      complaints.filter((line) => !line.includes("400")),
      [],
    );
  });

  it("says that a subscription is not in force, and has an owner confirm it", async () => {
    const receiver = await openReceiver({ status: 200, text: "" });
    await bindRole(server, "ana", "owner");
    try {
      {
        await using hers = await openEvents("", { as: "ana" });
        await hers.page.getByRole("button", { name: "New subscription" }).click();
        await hers.page.getByRole("dialog").getByLabel("Sink").fill(receiver.url);
        await hers.page.getByRole("button", { name: "Create subscription" }).click();
        await hers.page.getByRole("heading", { name: receiver.url }).waitFor();
      }
      await unbind("ana");
      await using console = await openEvents();
      const { page, complaints } = console;
      await listOf(page).getByRole("row").filter({ hasText: receiver.url }).getByText("not in force").waitFor();
      await page.getByRole("link", { name: receiver.url }).click();
      await page.getByRole("button", { name: "Confirm subscription" }).click();
      await page.getByRole("button", { name: "Confirm subscription" }).waitFor({ state: "detached" });
      assert.deepEqual(complaints, []);
    } finally {
      receiver.close();
    }
  });

  async function unbind(name: string): Promise<void> {
    const identity = userUid(`${server.config.baseUrl}/development/login`, name);
    const { body } = await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/roleBindings?identity=${identity}`);
    for (const { uid } of body.roleBindings)
      await rest(server.url, server.ownerToken, "DELETE", `/iam/v2beta1/roleBindings/${uid}`);
  }

  it("lets a viewer look, makes no call that is denied, and says what is missing", async () => {
    await using console = await openEvents(failing, { as: "viewer" });
    const { page, complaints } = console;
    await attemptsOf(page).getByText(hostile).first().waitFor();
    for (const name of ["New subscription", "Delete", "Send test event", "Pause", "Edit"]) {
      const button = page.getByRole("button", { name, exact: true });
      assert.equal(await button.getAttribute("aria-disabled"), "true", name);
      await button.click({ force: true });
    }
    const retry = page.getByRole("region", { name: bad.url }).getByRole("button", { name: "Retry now" });
    const reason = await retry.getAttribute("aria-describedby");
    assert.match(String(await page.locator(`[id="${reason}"]`).textContent()), /subscriptions\.create/);
    assert.equal(await page.getByRole("dialog").count(), 0);
    await page.goto(`${page.url()}?dialog=delete`);
    await attemptsOf(page).getByText(hostile).first().waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.deepEqual(complaints, []);
  });

  it("shows nothing to a stranger", async () => {
    await using console = await openEvents(failing, { as: "stranger" });
    const { page, complaints } = console;
    await untilQuiet(page);
    assert.equal(await page.getByText(bad.url).count(), 0);
    assert.deepEqual(complaints, []);
  });

  it("can be used by keyboard alone", async () => {
    await using console = await openEvents();
    const { page, complaints } = console;
    await listOf(page).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await listOf(page).waitFor();
    await page.keyboard.press("n");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("End");
    await page.keyboard.type("localhost/by-keyboard");
    await page.keyboard.press("Control+Enter");
    await page.getByText(/an attempt would fail now: the address of the host is not public/).waitFor();
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "https://localhost/by-keyboard" }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Delete");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Control+Enter");
    await listOf(page).getByText("by-keyboard").waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible, ${dark ? "dark" : "light"}, ${width} pixels wide`, async () => {
        await using console = await openEvents(failing, { dark, width });
        const { page, complaints } = console;
        await attemptsOf(page).getByText(hostile).first().waitFor();
        for (const text of ["Example of an event", "Receiver that verifies the signature"])
          await page.getByText(text).click();
        assert.deepEqual(await findProblems(page), [], "view");
        await page.getByRole("button", { name: "Copy as" }).first().click();
        await page.getByRole("menuitem", { name: "grpcurl" }).waitFor();
        assert.deepEqual(await findProblems(page), [], "menu");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "New subscription" }).click();
        await page.getByRole("dialog").getByLabel("Sink").fill("https://localhost/");
        await page.getByRole("button", { name: "Create subscription" }).click();
        await page.getByText(/an attempt would fail now: the address of the host is not public/).waitFor();
        assert.deepEqual(await findProblems(page), [], "new");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Discard and close" }).click();
        await page.getByRole("button", { name: "Delete", exact: true }).click();
        await page.getByRole("button", { name: "Delete subscription" }).waitFor();
        assert.deepEqual(await findProblems(page), [], "delete");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Edit" }).click();
        await page.getByRole("button", { name: "Save subscription" }).waitFor();
        assert.deepEqual(await findProblems(page), [], "edit");
        await page.keyboard.press("Escape");
        await attemptsOf(page).getByRole("link").first().click();
        await page.getByRole("region", { name: "Answer of the sink" }).waitFor();
        assert.deepEqual(await findProblems(page), [], "attempt");
        assert.deepEqual(complaints, []);
      });
});
