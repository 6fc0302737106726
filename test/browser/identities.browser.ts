// The identities of workloads in the console: the list and its filters, the wizard with a real exchange, a check of a token.
import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { keyPair, keySetText, signOutside, startIssuer } from "../sts/outside.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, findProblems, openConsole, signIn } from "./console.ts";
import { untilQuiet } from "./quiet.ts";

const hostile = "<img src=x onerror=alert(1)>";
const dayMs = 24 * 3_600_000;

describe("the identities of the console", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let engineering = "";
  const key = keyPair("ES256");
  const uids: Record<string, string> = {};
  before(async () => {
    buildConsole();
    browser = await openChromium();
    issuer = await startIssuer(key);
    server = await startTestServer();
    engineering = await createGroup(server, "engineering", server.groupUid);
    await bindRole(server, "owner", "owner");
    await bindRole(server, "viewer", "viewer");
    const issuerKeys = keySetText(keyPair("ES256"));
    const soon = new Date(Date.now() + 9 * dayMs).toISOString();
    await create("ci", { claimMatch: { issuer: issuer.url, subject: "repo:acme/app:ref:refs/heads/main" } });
    await create("bot", { staticKeys: { issuer: "robots", subject: "bot", issuerKeys, expirationTime: soon } });
    await create("sweeper", { staticKeys: { issuer: "robots", subject: "sweeper", issuerKeys } });
    await create("hostile", {
      description: `${hostile}\u202e ${"long".repeat(120)}`,
      claimMatch: {
        issuer: "https://issuer.example",
        subject: hostile + "x".repeat(400),
        claims: { [hostile]: hostile },
      },
    });
  });
  after(async () => {
    await browser?.close();
    await issuer?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  async function create(name: string, identity: object): Promise<void> {
    const path = `/iam/v2beta1/identities/${engineering}`;
    const { status, body } = await rest(server.url, server.ownerToken, "POST", path, { name, ...identity });
    assert.equal(status, 200, JSON.stringify(body));
    uids[name] = body.uid;
  }

  const address = (uid = "", search = "") => `/console/o/${server.groupUid}/identities/${uid}${search}`;
  const tokenOf = (sub: string, changes: object = {}) => {
    const now = Math.floor(Date.now() / 1000);
    return signOutside(key, { iss: issuer.url, sub, aud: server.url, iat: now, exp: now + 600, ...changes });
  };
  const exchange = async (identity: string, token: string) =>
    (await rest(server.url, token, "POST", `/sts/exchange?aud=${server.url}&identity=${identity}`)).status;
  const rowOf = (page: Page, name: string) =>
    page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });

  /** Goes through the wizard up to the configuration to copy, and returns the dialog. */
  async function throughWizard(
    page: Page,
    provider: string,
    name: string,
    fields: Record<string, string>,
  ): Promise<Locator> {
    await page.getByRole("button", { name: "New identity" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: provider }).click();
    await dialog.getByLabel("Name", { exact: true }).fill(name);
    for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label, { exact: true }).fill(value);
    await dialog.getByRole("combobox", { name: "Group" }).fill("engin");
    await dialog.getByRole("option", { name: /engineering/ }).click();
    await dialog.getByRole("button", { name: "Create identity" }).click();
    await dialog.getByRole("radio", { name: /choose a role/ }).check();
    await dialog.getByRole("combobox", { name: "Role" }).fill("viewer");
    await dialog.getByRole("option", { name: /^viewer/ }).click();
    await dialog.getByText("groups.list").first().waitFor();
    await dialog.getByRole("button", { name: "Grant role" }).click();
    await dialog.getByText("Waiting for the first exchange").waitFor();
    return dialog;
  }

  async function uidOf(name: string): Promise<string> {
    const { body } = await rest(
      server.url,
      server.ownerToken,
      "GET",
      `/gatehouse/iam/v1/identities:search?query=${name}`,
    );
    return body.identities[0].uid;
  }

  it("lists identities with their issuers, use, roles and the end of their keys, and filters them in the address", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await rowOf(page, "bot")
      .getByText(/key ends in 9 days/)
      .waitFor();
    await rowOf(page, "ci").getByText("never used").waitFor();
    await page.getByLabel("Keys", { exact: true }).selectOption("End soon or have ended");
    await rowOf(page, "sweeper").waitFor({ state: "detached" });
    assert.match(page.url(), /keys=14d/);
    await page.getByLabel("Issuer", { exact: true }).fill("robot");
    await page.waitForURL(/issuer=robot/);
    await rowOf(page, "bot").waitFor();
    await page.getByLabel("Use", { exact: true }).selectOption("Not for 30 days");
    await page.getByText("Nothing matches.").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await rowOf(page, "ci").waitFor();
    assert.equal(await page.getByLabel("Issuer", { exact: true }).inputValue(), "");
    await page.getByLabel("Name, subject or uid").fill("ACME/app");
    await rowOf(page, "bot").waitFor({ state: "detached" });
    await rowOf(page, "ci").waitFor();
    await page.reload();
    await rowOf(page, "ci").waitFor();
    assert.equal(await page.getByRole("row").count(), 2);
    await page.getByLabel("Name, subject or uid").fill(uids.sweeper!);
    await page.getByRole("heading", { name: "sweeper" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  for (const { provider, name, issuerField, fields, sub, claims } of [
    {
      provider: "GitLab CI",
      name: "gitlab-job",
      issuerField: "Address of GitLab",
      fields: { "Path of the project": "acme/app", Branch: "main" },
      sub: "project_path:acme/app:ref_type:branch:ref:main",
      claims: { ref_protected: "true" },
    },
    {
      provider: "Kubernetes",
      name: "pod",
      issuerField: "Issuer of the cluster",
      fields: { Namespace: "default", "Service account": "app" },
      sub: "system:serviceaccount:default:app",
      claims: {},
    },
  ])
    it(`lets a workload of ${provider} in, and sees its first exchange`, async () => {
      await using console = await openConsole(browser, server, { path: address() });
      const { page, complaints } = console;
      await signIn(page, "owner");
      const dialog = await throughWizard(page, provider, name, { [issuerField]: issuer.url, ...fields });
      const uid = await uidOf(name);
      await dialog.getByText(`&identity=${uid}"`).waitFor();
      assert.equal(await exchange(uid, await tokenOf(`${sub}2`, claims)), 403);
      assert.equal(await exchange(uid, await tokenOf(sub, claims)), 200);
      await dialog.getByText("It has exchanged its first token.").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("heading", { name }).waitFor();
      await page.getByRole("row", { name: /viewer.*engineering/ }).waitFor();
      await page
        .getByRole("main")
        .locator("header time")
        .getByText(/ago|now/)
        .waitFor();
      assert.deepEqual(complaints, []);
    });

  it("shows the pattern for GitHub, and what is wrong with a field at the field", async () => {
    await using console = await openConsole(browser, server, { path: `${address()}?dialog=new` });
    const { page } = console;
    await signIn(page, "owner");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "GitHub Actions" }).click();
    await dialog.getByLabel("Owner and repository").fill("acme/app");
    await dialog.getByLabel("Branch", { exact: true }).fill("main");
    await dialog.getByText("/repo:acme(@[0-9]+)?/app(@[0-9]+)?:ref:refs/heads/main/").waitFor();
    await dialog.getByLabel("Name", { exact: true }).fill("Not Allowed!");
    await dialog.getByRole("combobox", { name: "Group" }).fill("engin");
    await dialog.getByRole("option", { name: /engineering/ }).click();
    await dialog.getByRole("button", { name: "Create identity" }).click();
    await dialog.getByText(/lower-case letters, digits/).waitFor();
    assert.equal(await dialog.getByLabel("Name", { exact: true }).getAttribute("aria-invalid"), "true");
    assert.deepEqual(await findProblems(page), []);
  });

  it("makes a key in the browser, saves it once, and never sends it", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.postData() ?? ""));
    await signIn(page, "owner");
    const [download, dialog] = await Promise.all([
      page.waitForEvent("download"),
      throughWizard(page, "A key of its own", "keyed", {
        "Issuer that your tokens name": "https://keys.acme.example",
        "Subject that your tokens name": "keyed",
      }),
    ]);
    const jwk = JSON.parse(readFileSync(await download.path(), "utf8"));
    assert.equal(typeof jwk.d, "string");
    assert.ok(sent.every((body) => !body.includes(jwk.d)));
    const signer = { alg: jwk.alg, kid: jwk.kid, privateKey: createPrivateKey({ key: jwk, format: "jwk" }) };
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: "https://keys.acme.example", sub: "keyed", aud: server.url, iat: now, exp: now + 600 };
    assert.equal(await exchange(await uidOf("keyed"), await signOutside(signer as typeof key, claims)), 200);
    await dialog.getByText("It has exchanged its first token.").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("shows each check of a token, and forgets the token", async () => {
    await using console = await openConsole(browser, server, { path: address(uids.ci) });
    const { page, complaints } = console;
    await signIn(page, "viewer");
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Try a token" }).click();
    const field = page.getByLabel("Token", { exact: true });
    const token = await tokenOf("repo:acme/app:ref:refs/heads/feature");
    await field.fill(token);
    await page.getByRole("button", { name: "Check token" }).click();
    await page.getByText("This token would be denied.").waitFor();
    const subject = page.getByRole("row").filter({ has: page.getByRole("cell", { name: "sub", exact: true }) });
    await subject.getByText("failed").waitFor();
    await subject.getByText("repo:acme/app:ref:refs/heads/feature").waitFor();
    await subject.getByText("repo:acme/app:ref:refs/heads/main").waitFor();
    assert.equal(await field.inputValue(), "");
    assert.ok(!(await page.content()).includes(token.split(".")[2]!));
    assert.deepEqual(await findProblems(page), []);
    await field.fill(await tokenOf("repo:acme/app:ref:refs/heads/main"));
    await page.getByRole("button", { name: "Check token" }).click();
    await page.getByText("This token would be exchanged.").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("is edited and deleted by keyboard", async () => {
    await create("temporary", { claimMatch: { issuer: issuer.url, subject: "temporary" } });
    await using console = await openConsole(browser, server, { path: address(uids.temporary) });
    const { page, complaints } = console;
    await signIn(page, "owner");
    await page.getByRole("heading", { name: "temporary" }).waitFor();
    await page.keyboard.press("e");
    await page.getByRole("dialog", { name: "Edit temporary" }).waitFor();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("renamed");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "renamed", exact: true }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Delete");
    const dialog = page.getByRole("dialog", { name: "Delete renamed" });
    await dialog.getByText("None: it may do nothing.").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Delete identity" }).press("Enter");
    await page.getByText("Identity renamed deleted").waitFor();
    await rowOf(page, "renamed").waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);
  });

  it("says to a viewer what is missing, and to a stranger what to do", async () => {
    await using viewer = await openConsole(browser, server, { path: address(uids.ci) });
    await signIn(viewer.page, "viewer");
    await viewer.page.getByRole("heading", { name: "ci", exact: true }).waitFor();
    const give = viewer.page.getByRole("button", { name: "Give a role" });
    assert.equal(await give.getAttribute("aria-disabled"), "true");
    await viewer.page.getByRole("button", { name: "More actions" }).click();
    for (const name of [/^Edit.*identity\.update/, /^Delete.*identity\.delete/]) {
      const item = viewer.page.getByRole("menuitem", { name });
      assert.equal(await item.getAttribute("aria-disabled"), "true");
    }
    await viewer.page.keyboard.press("Escape");
    await viewer.page.keyboard.press("Delete");
    assert.equal(await viewer.page.getByRole("dialog").count(), 0);
    await viewer.page.getByRole("link", { name: "Workloads" }).first().click();
    const create = viewer.page.getByRole("button", { name: "New identity" });
    assert.equal(await create.getAttribute("aria-disabled"), "true");
    await untilQuiet(viewer.page);
    assert.deepEqual(viewer.complaints, []);
    await using stranger = await openConsole(browser, server, { path: address(uids.ci) });
    await signIn(stranger.page, "stranger");
    await stranger.page.getByRole("heading", { name: "Not found" }).waitFor();
    await untilQuiet(stranger.page);
    assert.deepEqual(stranger.complaints, []);
    assert.deepEqual(await findProblems(stranger.page), []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`the page of an identity with hostile texts is accessible, ${dark ? "dark" : "light"}, ${width} pixels wide`, async () => {
        await using console = await openConsole(browser, server, { dark, width, path: address(uids.hostile) });
        const { page, complaints } = console;
        await signIn(page, "owner");
        await page.getByRole("heading", { name: "hostile" }).waitFor();
        assert.deepEqual(await findProblems(page), [], "access");
        await page.getByRole("link", { name: "Accepted tokens" }).click();
        await page.locator("dl").getByText(hostile).first().waitFor();
        assert.deepEqual(await findProblems(page), [], "tokens");
        await page.getByRole("link", { name: "Details" }).click();
        await page.getByText(uids.hostile!).waitFor();
        assert.deepEqual(await findProblems(page), [], "details");
        for (const dialog of ["edit", "delete", "try", "new"]) {
          await page.goto(`${server.url}${address(dialog === "new" ? "" : uids.hostile)}?dialog=${dialog}`);
          await page.getByRole("dialog").waitFor();
          assert.deepEqual(await findProblems(page), [], dialog);
        }
        await page.getByRole("button", { name: "Kubernetes" }).click();
        await page.getByRole("button", { name: "Create identity" }).waitFor();
        assert.deepEqual(await findProblems(page), [], "wizard");
        await page.goto(`${server.url}${address()}`);
        await page.getByRole("link", { name: "hostile" }).waitFor();
        assert.deepEqual(await findProblems(page), [], "list");
        assert.deepEqual(complaints, []);
      });
});
