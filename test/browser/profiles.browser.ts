// The pages of people and workloads in a real browser.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { insertRefreshFamily } from "../../src/storage/sign-in/sign-ins.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addProvider } from "../security/provider-tree.ts";
import { arrange } from "../security/tree.ts";
import { keyPair, keySetText } from "../sts/outside.ts";
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
import { untilQuiet } from "./quiet.ts";

/** Uids, shortened or whole. */
const uidPattern = /\b[0-9a-f]{4}…[0-9a-f]{4}\b|[0-9a-f]{40}/;

describe("the pages of people and workloads", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let [platform, builds, bot] = ["", "", ""];
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    platform = await createGroup(server, "platform", server.groupUid);
    builds = await createGroup(server, "builds", platform);
    const sales = await createGroup(server, "sales", server.groupUid);
    await bind(builds, "viewer", "editor");
    for (const group of [builds, sales]) await bind(group, "member", "viewer");
    await bind(server.groupUid, "stranger", "viewer");
    const issuerKeys = keySetText(keyPair("ES256"));
    bot = await createResource(server, `identities/${builds}`, {
      name: "bot",
      staticKeys: { issuer: "robots", subject: "bot", issuerKeys },
    });
    for (const parent of [server.groupUid, builds])
      await createResource(server, `roleBindings/${parent}`, { identityUid: bot, roleUid: builtInRoleUid("viewer") });
    await using console = await openConsole(browser, server, { path: `/console/o/${server.groupUid}/overview` });
    await signIn(console.page, "member");
    await console.page.getByRole("button", { name: "Join" }).click();
    await console.page.getByRole("button", { name: "Join" }).waitFor({ state: "detached" });
    // The organization learns the name of a person with their first sign-in.
    await using other = await openConsole(browser, server, { path: "/console/me" });
    await signIn(other.page, "viewer");
    await other.page.getByRole("heading", { name: "Me" }).waitFor();
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const personUid = (name: string) => userUid(`${server.config.baseUrl}/development/login`, name);
  const bind = (parent: string, name: string, role: string) =>
    createResource(server, `roleBindings/${parent}`, { identityUid: personUid(name), roleUid: builtInRoleUid(role) });
  const person = (name: string, more = "") => `/console/o/${server.groupUid}/people/${personUid(name)}${more}`;
  const workload = (more = "") => `/console/o/${server.groupUid}/workloads/${bot}${more}`;
  const textOf = (page: Page) => page.getByRole("main").innerText();

  it("shows the roles of a person by the path of the group, and gives and takes roles away", async () => {
    await using console = await openConsole(browser, server, { path: `/console/o/${server.groupUid}/people` });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("link", { name: "viewer", exact: true }).first().click();
    await page.getByRole("heading", { name: "viewer" }).waitFor();
    await page.getByRole("row", { name: /editor.*example\.org \/ platform \/ builds/ }).waitFor();
    const effective = page.getByRole("region", { name: "What these roles give" });
    await effective.getByRole("link", { name: "builds" }).waitFor();
    assert.doesNotMatch(await textOf(page), uidPattern);

    await page.keyboard.press("n");
    const grant = page.getByRole("dialog", { name: "Grant access" });
    await grant.getByRole("combobox", { name: "Role" }).fill("registry.push");
    await page.getByRole("option", { name: "registry.push", exact: true }).click();
    await grant.getByText("+ Gains").first().waitFor();
    await grant.getByRole("button", { name: "Grant role" }).click();
    await page.getByRole("row", { name: /registry\.push.*example\.org/ }).waitFor();
    await page.getByRole("button", { name: "Actions for registry.push at example.org" }).click();
    await page.getByRole("menuitem", { name: "Take role away" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke role binding" }).click();
    await page.getByRole("row", { name: /registry\.push/ }).waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "viewer" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("takes several roles away at once, and says for each what happened", async () => {
    for (const group of [platform, builds]) await bind(group, "leaver", "viewer");
    await using console = await openConsole(browser, server, { path: person("leaver") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("row", { name: /viewer.*builds/ }).waitFor();
    await page.getByRole("table").getByRole("checkbox").first().check();
    await page.getByRole("button", { name: "Take roles away" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Remove roles" }).click();
    await dialog.getByText(/2/).first().waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press("Escape");
    await page.getByText("No role, or none that you can see.").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("the palette and Who can do what lead to the page of a person, and one's own page says so", async () => {
    await using console = await openConsole(browser, server, { path: `/console/o/${server.groupUid}/access` });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("table").locator('a[href*="/people/"]').getByText("owner", { exact: true }).click();
    await page.getByText("you", { exact: true }).waitFor();
    assert.equal(await page.getByRole("button", { name: "More actions" }).count(), 0);
    await page.getByRole("link", { name: "Sessions" }).click();
    await page.getByText(/^(All sessions of this person|Sessions that this person began)/).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("member");
    await page
      .getByRole("option", { name: /member/ })
      .first()
      .click();
    await page.getByRole("heading", { name: "member" }).waitFor();
    assert.match(page.url(), new RegExp(`/people/${personUid("member")}`));
    assert.deepEqual(complaints, []);
  });

  it("the holders of a role lead to their pages", async () => {
    const path = `/console/o/${server.groupUid}/roles/${builtInRoleUid("viewer")}`;
    await using console = await openConsole(browser, server, { path });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const holders = page.getByRole("table").last();
    await holders.getByRole("link", { name: "member", exact: true }).first().click();
    await page.getByRole("heading", { name: "member", level: 1 }).waitFor();
    await page.goBack();
    await holders.getByRole("link", { name: "bot", exact: true }).first().click();
    await page.getByRole("heading", { name: "bot", level: 1 }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("shows the keys of a workload, a role from above as one without effect there, and the uid in the details only", async () => {
    await using console = await openConsole(browser, server, { path: workload() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: "bot" }).waitFor();
    await page.getByRole("row", { name: /viewer.*example\.org.*confined to this subgroup/ }).waitFor();
    assert.doesNotMatch(await textOf(page), uidPattern);
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await page
      .getByRole("table", { name: "Public keys" })
      .getByRole("row", { name: /EC P-256/ })
      .waitFor();
    await page.getByText("robots").waitFor();
    assert.doesNotMatch(await textOf(page), uidPattern);
    await page.getByRole("link", { name: "Details" }).click();
    await page.getByText(bot).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("lists the sessions by a login provider of the organization to its owner, who ends one", async () => {
    const provider = await addProvider(server, server.groupUid);
    await arrange(server, async (tx) => {
      const { time } = tx.context;
      for (const by of ["", provider]) {
        const client = { client: "192.0.2.7", userAgent: by === "" ? "elsewhere" : "curl/8" };
        const signIn = { act: { iss: "", sub: "", aud: "" }, provider: by, audience: [], client };
        const row = { id: `s${by}`, identityUid: personUid("member"), digest: `s${by}`, signIn, createTime: time };
        await insertRefreshFamily(tx, { ...row, expireTime: time + 3_600_000 }, 50);
      }
    });
    await using console = await openConsole(browser, server, { path: person("member", "?tab=sessions") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("row", { name: /192\.0\.2\.7.*curl\/8/ }).waitFor();
    assert.equal(await page.getByText("elsewhere").count(), 0);
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole("button", { name: "End session" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End session" }).click();
    await page.getByText("There is no session.").waitFor();
    assert.deepEqual(complaints, []);
    await using viewer = await openConsole(browser, server, { path: person("member", "?tab=sessions") });
    await signIn(viewer.page, "viewer");
    await viewer.page.getByText(/You need role_bindings\.delete/).waitFor();
    assert.deepEqual(viewer.complaints, []);
  });

  it("shows what a person did, their last sign-ins, and the way to the audit log", async () => {
    {
      await using own = await openConsole(browser, server, { path: "/console/me" });
      await signIn(own.page, "member");
      await own.page.getByRole("heading", { name: "Me" }).waitFor();
    }
    await using console = await openConsole(browser, server, { path: person("member", "?tab=activity") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const entries = page.getByRole("region", { name: "Last sign-ins and exchanges" });
    await entries.getByText(/member signed in/).waitFor();
    await page
      .getByRole("region", { name: "Changes" })
      .getByText(/member joined/)
      .waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole("link", { name: "All in the audit log" }).click();
    await page
      .getByText(/member joined/)
      .first()
      .waitFor();
    assert.ok(page.url().includes(personUid("member")), page.url());
    assert.deepEqual(complaints, []);

    await using member = await openConsole(browser, server, { path: person("member", "?tab=activity") });
    await signIn(member.page, "member");
    await member.page.getByText(/You lack subscriptions\.create/).waitFor();
    assert.deepEqual(member.complaints, []);
  });

  it("lists what a workload vouches for, and lets the caller take it over", async () => {
    const claimMatch = { issuer: "https://issuer.example.org", subject: "maker" };
    const maker = await createResource(server, `identities/${server.groupUid}`, { name: "maker", claimMatch });
    const place = `roleBindings/${server.groupUid}`;
    const owning = await createResource(server, place, { identityUid: maker, roleUid: builtInRoleUid("owner") });
    await createResource(server, place, { identityUid: maker, roleUid: builtInRoleUid("editor") });
    const token = await server.tokenOf(maker);
    for (const [path, body] of [
      [
        `/iam/v2beta1/groupInvites/${platform}`,
        { roleUid: builtInRoleUid("owner"), email: "guest@example.com", ttl: "3600s" },
      ],
      [`/events/v2beta1/subscriptions/${server.groupUid}`, { sink: "https://localhost/hook" }],
    ] as const)
      assert.equal((await rest(server.url, token, "POST", path, body)).status, 200, path);
    await rest(server.url, server.ownerToken, "DELETE", `/iam/v2beta1/roleBindings/${owning}`);

    const path = `/console/o/${server.groupUid}/workloads/${maker}?tab=delegations`;
    await using console = await openConsole(browser, server, { path });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const invite = page.getByRole("row", { name: /Invite guest@example\.com.*example\.org \/ platform.*not in force/ });
    await invite.getByText(/maker, who made it, no longer holds/).waitFor();
    const subscription = page.getByRole("row", { name: /Subscription https:\/\/localhost\/hook.*in force/ });
    await subscription.getByRole("button", { name: "Take over" }).waitFor();
    assert.doesNotMatch(await textOf(page), uidPattern);
    assert.deepEqual(await findProblems(page), []);
    await invite.getByRole("button", { name: "Take over" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Take over" }).click();
    await invite.waitFor({ state: "detached" });
    await page.goto(server.url + person("owner", "?tab=delegations"));
    const own = page.getByRole("row", { name: /Invite guest@example\.com.*in force/ });
    await own.waitFor();
    assert.equal(await own.getByRole("button", { name: "Take over" }).count(), 0);
    await own.getByRole("link", { name: "guest@example.com" }).click();
    await page.getByRole("row", { name: /guest@example\.com/ }).waitFor();
    await page.goBack();
    await own.getByRole("button", { name: "Revoke invite" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke invite" }).click();
    await own.waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);

    await using viewer = await openConsole(browser, server, { path });
    await signIn(viewer.page, "viewer");
    const locked = viewer.page.getByRole("row", { name: /Subscription/ }).getByRole("button", { name: "Take over" });
    assert.equal(await locked.getAttribute("aria-disabled"), "true");
    assert.deepEqual(viewer.complaints, []);
  });

  it("says of a person who has not joined only that, with the short uid", async () => {
    await using console = await openConsole(browser, server, { path: person("stranger") });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: "Not joined yet" }).waitFor();
    await page.getByText("Pending").waitFor();
    await page.getByRole("row", { name: /viewer.*example\.org/ }).waitFor();
    assert.doesNotMatch(await textOf(page), /stranger/);
    assert.deepEqual(complaints, []);
  });

  it("shows a member of two subgroups their own page, and makes no call that is denied for others", async () => {
    await using console = await openConsole(browser, server, { path: person("member") });
    const { page, complaints } = console;
    await signIn(page, "member");
    await page.getByRole("heading", { name: "member" }).waitFor();
    await page.getByRole("row", { name: /viewer.*platform|viewer.*builds/ }).waitFor();
    await page.getByRole("row", { name: /viewer.*sales/ }).waitFor();
    const give = page.getByRole("button", { name: "Give a role" });
    assert.equal(await give.getAttribute("aria-disabled"), "true");
    for (const path of [
      person("member", "?tab=details"),
      person("member", "?tab=activity"),
      person("member", "?tab=delegations"),
      person("viewer"),
      person("viewer", "?tab=activity"),
      person("viewer", "?tab=delegations"),
      person("nobody"),
      workload(),
      workload("?tab=activity"),
      workload("?tab=delegations"),
    ]) {
      await page.goto(server.url + path);
      await page.getByRole("main").getByRole("heading").or(page.getByText("There is nothing")).first().waitFor();
      await untilQuiet(page);
    }
    assert.deepEqual(complaints, []);
  });

  for (const [width, dark] of [
    [1440, false],
    [768, true],
    [375, false],
    [375, true],
  ] as const)
    it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
      await using console = await openConsole(browser, server, { path: person("viewer"), width, dark });
      const { page, complaints } = console;
      await signIn(page, "owner");
      await page.getByRole("row", { name: /editor/ }).waitFor();
      assert.deepEqual(await findProblems(page), [], "roles");
      await page.getByRole("button", { name: /^Actions for editor/ }).click();
      await page.getByRole("menuitem", { name: "Change role" }).waitFor();
      assert.deepEqual(await findProblems(page), [], "menu of a role");
      for (const path of [
        person("viewer", "?tab=details"),
        person("viewer", "?tab=activity"),
        workload("?tab=activity"),
        workload("?tab=delegations"),
        workload(),
        workload("?tab=credentials"),
        workload("?tab=details"),
      ]) {
        await page.goto(server.url + path);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await untilQuiet(page);
        assert.deepEqual(await findProblems(page), [], path);
      }
      assert.deepEqual(complaints, []);
    });
});
