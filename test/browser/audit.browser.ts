// The view Audit in a real browser: what changed, filters, live following, export, and who sees what.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addOwner, createProvider, enableScim, userSchema } from "../scim/provisioning.ts";
import { addPerson, bind, viewerRole } from "../security/tree.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, findProblems, openConsole, signIn } from "./console.ts";

describe("the view Audit", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let engineering = "";
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    engineering = await createGroup(server, "engineering", server.groupUid, "before");
    await describeGroup("after");
    await createGroup(server, "hostile", server.groupUid, "<img src=x onerror=alert(1)>");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const describeGroup = (description: string) =>
    rest(server.url, server.ownerToken, "PATCH", `/iam/v2beta1/groups/${engineering}`, { description });
  const address = (q = "") => `/console/o/${server.groupUid}/audit${q === "" ? "" : `?q=${encodeURIComponent(q)}`}`;

  it("says what happened, shows both sides of a change, and narrows the list by a click", async () => {
    await using console = await openConsole(browser, server, { path: address(`kind:groups resource:${engineering}`) });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const entry = page.getByRole("listitem").filter({ hasText: "changed the group engineering" }).first();
    await entry.getByRole("link", { name: "engineering" }).waitFor();
    assert.equal(await page.getByRole("listitem").filter({ hasText: "hostile" }).count(), 0);
    await entry.getByRole("button", { name: /details$/ }).click();
    const difference = entry.getByRole("row", { name: "description before after" });
    await difference.waitFor();
    await entry.getByRole("button", { name: "Only this actor" }).click();
    await page.waitForURL(/actor/);
    await page.getByLabel("Person or workload").first().waitFor();
    assert.deepEqual(complaints, []);
  });

  it("follows new changes", async () => {
    await using console = await openConsole(browser, server, { path: address("kind:groups") });
    await signIn(console.page, "owner");
    await console.page.getByRole("listitem").first().waitFor();
    await createGroup(server, "seen without a reload", server.groupUid, "");
    await console.page.getByRole("listitem").getByText("seen without a reload").first().waitFor();
    assert.deepEqual(console.complaints, []);
  });

  it("shows a viewer the changes of what they may list, without a denied call", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "viewer");
    await page
      .getByRole("listitem")
      .filter({ hasText: / group/ })
      .first()
      .waitFor();
    assert.equal(await page.getByRole("listitem").filter({ hasText: "signed in" }).count(), 0);
    assert.deepEqual(complaints, []);
  });

  it("finds an actor by name in a field and in a word that it completes, and keeps all of it in the address", async () => {
    const ada = await addPerson(server, "ada meyer", "ada@example.org", server.groupUid);
    await bind(server, server.groupUid, ada, viewerRole.uid);
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const field = page.getByLabel("Person or workload").first();
    await field.fill("mey");
    await page.getByRole("option", { name: /ada meyer/ }).click();
    await page.waitForURL((url) => url.searchParams.get("q") === `actor:${ada}`);
    await page.getByText("No change matches.").waitFor();
    await page.goto(server.url + address());
    await page.getByRole("combobox", { name: "Filter by words" }).fill("actor:mey");
    await page.getByRole("option", { name: "actor:ada meyer (ada@example.org)" }).click();
    await page.waitForURL((url) => url.searchParams.get("q") === `actor:${ada}`);
    await page.getByLabel("From").fill("2026-01-02");
    await page.getByLabel("Outcome").selectOption("allowed");
    await page.getByLabel("Kind").selectOption("roles");
    await page.waitForURL((url) =>
      /after:2026-01-02 outcome:allowed kind:roles$/.test(url.searchParams.get("q") ?? ""),
    );
    await page.getByRole("combobox", { name: "Filter by words" }).fill("actr:x");
    await page.getByRole("combobox", { name: "Filter by words" }).press("Enter");
    await page.getByText(/Not a filter: actr:x\./).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("an audit day with 40 people from a SCIM client and 100 sign-ins has ten lines at most", async () => {
    await using busy = await startTestServer();
    await bindRole(busy, "owner", "owner");
    await addOwner(busy);
    const scim = await enableScim(busy, await createProvider(busy));
    const people: string[] = [];
    for (let i = 0; i < 40; i++) {
      const { status } = await scim.send("POST", "/Users", {
        schemas: [userSchema],
        userName: `person-${i}@acme.test`,
        displayName: i === 39 ? "Ada Meyer" : `Person ${i}`,
      });
      assert.equal(status, 201);
      people.push(await addPerson(busy, `member ${i}`, `member-${i}@acme.test`, busy.groupUid));
    }
    const time = Date.now();
    for (let i = 0; i < 100; i++) {
      const actor = people[i % people.length]!;
      const after = { outcome: "allowed", count: 1, firstTime: time, lastTime: time };
      const context = { actor, method: "/oauth/callback", requestId: "", time };
      await busy.server.database.write(context, async (tx) => {
        tx.logChange({ kind: "sign_ins", uid: actor, groupUid: busy.groupUid, before: null, after });
      });
    }
    await using console = await openConsole(browser, busy, { path: `/console/o/${busy.groupUid}/audit` });
    const { page } = console;
    await signIn(page, "owner");
    await page.getByText("added 40 people: Ada Meyer and 39 more").waitFor();
    await page.getByText(/and \d+ more signed in, 10\d times in all/).waitFor();
    const lines = await page.getByRole("list", { name: "Audit log" }).first().getByRole("listitem").count();
    assert.ok(lines <= 10, `${lines} lines`);
    await page.getByRole("button", { name: /added 40 people/ }).click();
    assert.equal(await page.getByRole("list", { name: "Changes of this line" }).getByRole("listitem").count(), 40);
    await page.goto(`${busy.url}/console/o/${busy.groupUid}/overview`);
    const overview = page.getByRole("region", { name: "Latest changes" });
    await overview.getByText("added 40 people: Ada Meyer and 39 more").waitFor();
    assert.equal(await overview.getByText("signed in").count(), 0);
    assert.doesNotMatch(await page.locator("main").innerText(), /\b[0-9a-f]{4}…[0-9a-f]{4}\b|[0-9a-f]{40}/);
  });

  it("saves what is filtered as lines of JSON and as CSV, which runs no formula", async () => {
    await using console = await openConsole(browser, server, { path: address("kind:groups") });
    const { page } = console;
    await signIn(page, "owner");
    await page.getByRole("listitem").first().waitFor();
    for (const [button, pattern] of [
      ["Export JSON lines", /^\{"id":"[0-9a-f]{32}".*\n/],
      ["Export CSV", /^time,actor,subject,method,kind,/],
    ] as const) {
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: button }).click(),
      ]);
      assert.match(readFileSync(await saved.path(), "utf8"), pattern);
    }
  });

  it("says which words of an address filter nothing, and lists nothing, and shows hostile texts as text", async () => {
    await using console = await openConsole(browser, server, { path: address("nonsense kind:groups") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const alert = page.getByRole("alert").filter({ hasText: "nonsense" });
    await alert.waitFor();
    assert.equal(await page.getByRole("list", { name: "Audit log" }).count(), 0);
    await alert.getByRole("button", { name: "Clear the filter" }).click();
    await page.getByRole("listitem").first().waitFor();
    await page.goto(server.url + address("name:hostile"));
    const hostile = page.getByRole("listitem").filter({ hasText: "hostile" }).first();
    await hostile.getByRole("button", { name: /details$/ }).click();
    await hostile.getByText("<img src=x onerror=alert(1)>").waitFor();
    assert.deepEqual(complaints, []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await openConsole(browser, server, { path: address(), width, dark });
        await signIn(console.page, "owner");
        await console.page
          .getByRole("button", { name: /details$/ })
          .first()
          .click();
        assert.deepEqual(await findProblems(console.page), []);
        assert.deepEqual(console.complaints, []);
      });
});
