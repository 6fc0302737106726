// The view of the installation in a real browser: for operators, and closed to all others.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { writeNode } from "../../src/storage/installation/nodes.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, findProblems, openConsole, signIn } from "./console.ts";

describe("the view Operate", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer({});
    await bindRole(server, "owner", "operator");
    await bindRole(server, "viewer", "viewer");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  it("shows version, database, limits, keys and sessions", async () => {
    await using console = await openConsole(browser, server);
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("link", { name: "Operate" }).click();
    await page.getByRole("heading", { name: "Operate this installation" }).waitFor();
    await page.getByText(/SQLite \d/).waitFor();
    await page.getByText("ready").waitFor();
    await page.getByText("all run the same version").waitFor();
    await page.getByText(/None of \d+ limits/).waitFor();
    await page.getByText("signs for the API").waitFor();
    await page.getByText("owner@example.org").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("opens when it is clicked on the first page while the organizations load: the first page no longer redirects", async () => {
    await using console = await openConsole(browser, server);
    const { page, complaints } = console;
    const [groups, view] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route("**/*GroupsService/ListGroups", (route) => groups.promise.then(() => route.continue()));
    await page.route("**/assets/operate-*.js", (route) => view.promise.then(() => route.continue()));
    await signIn(page, "owner");
    await page.getByRole("link", { name: "Operate" }).click();
    await page.waitForURL("**/console/operate");
    groups.resolve();
    await page.getByRole("banner").getByText("example.org").waitFor();
    view.resolve();
    await page.getByRole("heading", { name: "Operate this installation" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("rotates the key and retires the one before: the page stays signed in", async () => {
    await using console = await openConsole(browser, server, { path: "/console/operate" });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("button", { name: "Rotate signing keys" }).click();
    const rotate = page.getByRole("dialog", { name: "Rotate signing keys" });
    await rotate.getByText(/verify for two more hours/).waitFor();
    assert.match(page.url(), /dialog=rotate/);
    await rotate.getByRole("button", { name: "Rotate signing keys" }).click();
    // The key for the API and that for others were rotated; the token of the page is one for the API, by ES256.
    await page.getByText("verifies").nth(1).waitFor();
    const verifying = page.getByRole("row", { name: /ES256.*verifies|verifies.*ES256/ });
    await verifying.getByRole("button", { name: "Retire now" }).click();
    const retire = page.getByRole("dialog", { name: /^Retire signing key/ });
    const button = retire.getByRole("button", { name: "Retire now" });
    assert.ok(await button.isDisabled());
    const label = (await retire.locator("label").textContent()) ?? "";
    await retire.getByRole("textbox").fill(/Type (\S+) to confirm/.exec(label)?.[1] ?? "");
    await button.click();
    await page.getByRole("row", { name: /ES256.*retired|retired.*ES256/ }).waitFor();
    await page.reload();
    await page.getByText("signs for the API").waitFor();
    // Chromium logs the 401 of the token that the retired key had signed.
    assert.deepEqual(
      complaints.filter((line) => !line.includes("401")),
      [],
    );
  });

  it("ends the session of another browser", async () => {
    await using other = await openConsole(browser, server, { path: "/console/me" });
    await signIn(other.page, "someone");
    await other.page.getByText("this browser", { exact: true }).waitFor();
    await using console = await openConsole(browser, server, { path: "/console/operate" });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const row = page.getByRole("row", { name: /someone@example.org/ });
    await row.getByRole("button", { name: "End session" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End session" }).click();
    await row.waitFor({ state: "detached" });
    await other.page.reload();
    await other.page.getByRole("heading", { name: "Sign in to Gatehouse" }).waitFor();
    await page.goto(`${server.url}/console/o/${server.groupUid}/audit?q=kind:ended_sessions`);
    const entry = page.getByRole("list", { name: "Audit log" }).getByRole("listitem").first();
    await entry.getByText(/ended a session of/).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("lists the servers of a PostgreSQL database, with their versions and those that were not seen", async () => {
    await using shared = await startTestServer({ database: "postgres" });
    await bindRole(shared, "owner", "operator");
    const now = Date.now();
    const pod = { hostName: "gatehouse-b", version: "0.1.9", workerCount: 4, startTime: now - 3_600_000 };
    const context = { actor: "", method: "test", requestId: "", time: now };
    await shared.server.database.write(context, async (tx) => {
      // A clock that is ahead keeps the state for the whole test.
      await writeNode(tx, { ...pod, id: "upgraded", lastSeenTime: now + 600_000 });
      await writeNode(tx, { ...pod, id: "crashed", hostName: "gatehouse-c", lastSeenTime: now - 120_000 });
    });
    for (const [width, dark] of [
      [1280, false],
      [375, true],
    ] as const) {
      await using console = await openConsole(browser, shared, { path: "/console/operate", width, dark });
      const { page, complaints } = console;
      await signIn(page, "owner");
      const nodes = page.getByRole("region", { name: "Servers", exact: true });
      await nodes.getByText("1 not seen for a minute").waitFor();
      await nodes.getByText("2 versions: an upgrade is under way").waitFor();
      await page.getByText("(this server)").waitFor();
      await page.getByText("not seen since 2 minutes ago").waitFor();
      assert.equal(await page.getByText("runs", { exact: true }).count(), 2);
      assert.deepEqual(await findProblems(page), []);
      assert.deepEqual(complaints, []);
    }
  });

  for (const name of ["viewer", "nobody"])
    it(`is closed to ${name}, who does not see its link either, and makes no call`, async () => {
      await using console = await openConsole(browser, server, { path: "/console/operate" });
      const { page, complaints } = console;
      const calls: string[] = [];
      page.on("request", (request) => {
        if (request.url().includes("OperateService")) calls.push(request.url());
      });
      await signIn(page, name);
      await page.getByText("This view is for operators").waitFor();
      assert.equal(await page.getByRole("link", { name: "Operate" }).count(), 0);
      assert.deepEqual(calls, []);
      assert.deepEqual(await findProblems(page), []);
      assert.deepEqual(complaints, []);
    });

  for (const width of [1280, 375])
    for (const dark of [false, true])
      it(`has no problem that axe-core finds at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await openConsole(browser, server, { path: "/console/operate", width, dark });
        const { page, complaints } = console;
        await signIn(page, "owner");
        await page.getByText("signs for the API").waitFor();
        await page.getByText("owner@example.org").first().waitFor();
        assert.deepEqual(await findProblems(page), []);
        await page.getByRole("button", { name: "Copy as" }).first().click();
        await page.getByRole("menuitem", { name: "grpcurl" }).waitFor();
        assert.deepEqual(await findProblems(page), []);
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Rotate signing keys" }).click();
        await page.getByRole("dialog").waitFor();
        assert.deepEqual(await findProblems(page), []);
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "End session" }).first().click();
        await page.getByRole("dialog").waitFor();
        assert.deepEqual(await findProblems(page), []);
        assert.deepEqual(complaints, []);
      });
});
