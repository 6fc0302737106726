// The tab of a workload that says which tokens assume it: whom its rule lets in by mistake, and real tokens that were exchanged.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { forgeToken, gitHub, gitHubJob, startForges } from "../sts/forges.ts";
import { keyPair, signOutside, startIssuer } from "../sts/outside.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createResource, findProblems, openConsole, signIn } from "./console.ts";

const main = "repo:acme/app:ref:refs/heads/main";
const release = "repo:acme/app:ref:refs/heads/release";

describe("the trust of a workload", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  const key = keyPair("ES256");
  const uids: Record<string, string> = {};
  before(async () => {
    buildConsole();
    browser = await openChromium();
    issuer = await startIssuer(key);
    server = await startTestServer();
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    const create = async (name: string, identity: object) => {
      uids[name] = await createResource(server, `identities/${server.groupUid}`, { name, ...identity });
    };
    const github = "https://token.actions.githubusercontent.com";
    await create("ci", { claimMatch: { issuer: issuer.url, subjectPattern: "repo:acme/app.*" } });
    await create("tried", { claimMatch: { issuer: issuer.url, subjectPattern: "repo:acme/app.*" } });
    await create("broad", { claimMatch: { issuer: github, subjectPattern: "repo:.*" } });
    await create("careful", { claimMatch: { issuer: issuer.url, subject: main } });
    await create("never", {
      claimMatch: { issuer: github, subject: main, claims: { team: "a" }, claimPatterns: { team: "b" } },
    });
    const awsIdentity = { awsAccount: "111111111111", arnPattern: "arn:aws:.*", userIdPattern: ".*" };
    await create("lambda", { awsIdentity });
  });
  after(async () => {
    await browser?.close();
    await issuer?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const address = (name: string, tab = "?tab=trust") => `/console/o/${server.groupUid}/workloads/${uids[name]}${tab}`;

  async function open(path: string, as = "owner", look: { width?: number; dark?: boolean } = {}) {
    const console = await openConsole(browser, server, { path, ...look });
    await signIn(console.page, as);
    return console;
  }

  async function exchange(name: string, sub: string): Promise<number> {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer.url, sub, aud: server.url, iat: now, exp: now + 600, actor: "ada" };
    const token = await signOutside(key, claims);
    return (await rest(server.url, token, "POST", `/sts/exchange?aud=${server.url}&identity=${uids[name]}`)).status;
  }

  const warnings = (page: Page) => page.getByRole("region", { name: "Warnings" });
  const seenRow = (page: Page, subject: string) =>
    page.getByRole("table", { name: "Seen tokens" }).getByRole("row").filter({ hasText: subject });

  it("says whom a rule lets in by mistake, errors first, with the claims that differ", async () => {
    await using console = await open(address("broad"));
    const { page, complaints } = console;
    const findings = warnings(page).getByRole("listitem");
    await findings.first().waitFor();
    const sentences = await findings.locator("strong").allTextContents();
    assert.deepEqual(sentences.slice(0, 2), [
      "The rule also lets in a repository of another owner.",
      "The rule also lets in a pull request.",
    ]);
    const levels = (await findings.allTextContents()).map((text) => /^(error|warning)/.exec(text)?.[0]);
    assert.deepEqual(levels, [...levels].sort());
    const first = findings.first();
    await first.getByText("repo:mallory/app:ref:refs/heads/main", { exact: true }).waitFor();
    assert.equal(await first.getByText("runner_environment", { exact: true }).isVisible(), false);
    await first.getByText(/more claims$/).press("Enter");
    await first.getByText("runner_environment", { exact: true }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  it("says that nothing was found, and that a rule may never match", async () => {
    await using console = await open(address("careful"));
    const { page, complaints } = console;
    await warnings(page).getByText("Nothing found.").waitFor();
    await page.goto(server.url + address("never"));
    await warnings(page).getByText("it may never match").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("shows the findings in German", async () => {
    await using console = await openConsole(browser, server, { path: address("broad"), locale: "de" });
    const { page } = console;
    await page.getByRole("button", { name: "Anmelden" }).click();
    await page.getByRole("link", { name: "owner", exact: true }).click();
    await page.getByText("Die Regel lässt auch ein Repository eines anderen Besitzers zu.").waitFor();
  });

  it("shows tokens as they are exchanged with what did not match, and clears them after a question", async () => {
    await using console = await open(address("ci"));
    const { page, complaints } = console;
    await page.getByText("Each token with a valid signature").waitFor();
    assert.deepEqual(
      [await exchange("ci", main), await exchange("ci", release), await exchange("ci", "repo:mallory/app")],
      [200, 200, 403],
    );
    await seenRow(page, "repo:mallory/app").getByText("denied").waitFor();
    assert.match((await seenRow(page, "repo:mallory/app").textContent()) ?? "", /denied.*sub/);
    await seenRow(page, main).getByText("let in").waitFor();
    await seenRow(page, main).locator("summary").press("Enter");
    await seenRow(page, main).getByText(issuer.url, { exact: true }).waitFor();
    assert.equal(await page.getByText("ada", { exact: true }).count(), 0);
    assert.deepEqual(await findProblems(page), []);

    await page.getByRole("button", { name: "Clear", exact: true }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The tokens cannot be restored.").waitFor();
    await dialog.getByRole("button", { name: "Clear seen tokens" }).press("Enter");
    await page.getByText("Each token with a valid signature").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("tries a rule on the seen tokens while it is typed, and takes it over into the dialog that changes the claims", async () => {
    const [kept, denied] = ["repo:acme/app:environment:kept", "repo:acme/app:environment:denied"];
    for (const sub of [kept, denied]) assert.equal(await exchange("tried", sub), 200);
    assert.equal(await exchange("tried", "repo:acme/web"), 403);
    await using console = await open(address("tried"));
    const { page, complaints } = console;
    for (const sub of [kept, denied, "repo:acme/web"]) await seenRow(page, sub).waitFor();
    const tab = page.getByRole("region", { name: "Try a rule" });
    const result = tab.getByRole("region", { name: "What this rule would do" });
    await result.getByText("This is the present rule.").waitFor();
    assert.equal(await tab.getByRole("button", { name: "Use this rule" }).count(), 0);
    const subject = tab.getByLabel("Subject (sub)", { exact: true });
    await subject.fill("(");
    await tab.locator("[name=subject_pattern][aria-invalid=true]").waitFor();
    await subject.fill("repo:acme/(app:environment:kept|web.*)");
    await result.getByText("1 seen token as before").waitFor();
    const rows = await result.getByRole("row").allTextContents();
    assert.match(rows[0] ?? "", /environment:denied.*newly denied.*sub/);
    assert.match(rows[1] ?? "", /acme\/web.*newly let in/);
    assert.equal(rows.length, 2);
    await result.getByText("The rule also lets in another subject whose name begins the same.").waitFor();
    await tab.getByRole("button", { name: "Add claim" }).click();
    await tab.getByLabel("Claim 1", { exact: true }).fill("team");
    await tab.getByLabel("Value 1", { exact: true }).fill("a");
    await result.getByText("team was not stored").first().waitFor();
    assert.deepEqual(await findProblems(page), []);

    await page.reload();
    await result.getByText("team was not stored").first().waitFor();
    await tab.getByRole("button", { name: "Use this rule" }).press("Enter");
    const dialog = page.getByRole("dialog");
    assert.equal(await dialog.getByLabel("Subject (sub)", { exact: true }).inputValue(), await subject.inputValue());
    await dialog.getByText("team").first().waitFor();
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await dialog.waitFor({ state: "detached" });
    const { body } = await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/identities/${uids.tried}`);
    assert.equal(body.claimMatch.subjectPattern, "repo:acme/(app:environment:kept|web.*)");
    assert.deepEqual(body.claimMatch.claims, { team: "a" });
    await result.getByText("This is the present rule.").waitFor();
    assert.deepEqual(
      complaints.filter((text) => !text.includes("400 (Bad Request)")),
      [],
    );
  });

  it("shows pinned names and refused ones, and accepts one after it has said what that does", async () => {
    await using forges = await startForges();
    await using pinning = await startTestServer({ settings: forges.settings });
    for (const name of ["owner", "viewer"]) await bindRole(pinning, name, name);
    const claimMatch = { issuer: gitHub, subject: main };
    const uid = await createResource(pinning, `identities/${pinning.groupUid}`, { name: "pinned", claimMatch });
    const present = async (repositoryId: string) => {
      const token = await forgeToken(pinning.url, gitHubJob("acme", "app", ["12", repositoryId]));
      const path = `/sts/exchange?aud=${pinning.url}&identity=${uid}`;
      return (await rest(pinning.url, token, "POST", path)).status;
    };
    assert.deepEqual([await present("74"), await present("888")], [200, 403]);
    const path = `/console/o/${pinning.groupUid}/workloads/${uid}?tab=trust`;
    await using viewer = await openConsole(browser, pinning, { path });
    await signIn(viewer.page, "viewer");
    const denied = viewer.page.getByRole("button", { name: "Accept", exact: true });
    await denied.waitFor();
    assert.equal(await denied.getAttribute("aria-disabled"), "true");

    await using console = await openConsole(browser, pinning, { path });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const pin = page.getByRole("table", { name: "Pinned names" }).getByRole("row").filter({ hasText: "acme/app" });
    const refused = page.getByRole("table", { name: "Refused names" }).getByRole("row").filter({ hasText: "acme/app" });
    assert.match((await pin.textContent()) ?? "", /acme\/apprepository74first use/);
    assert.match((await refused.textContent()) ?? "", /acme\/apprepository888pinned to another id1/);
    assert.deepEqual(await findProblems(page), []);
    await refused.getByRole("button", { name: "Accept" }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The repository acme/app is pinned to the id 888.").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press("Control+Enter");
    await dialog.waitFor({ state: "detached" });
    await pin.getByText("888", { exact: true }).waitFor();
    await pin.getByText("accepted").waitFor();
    assert.equal(await refused.count(), 0);
    assert.deepEqual([await present("888"), await present("74")], [200, 403]);
    assert.deepEqual([...complaints, ...viewer.complaints], []);
  });

  it("an identity of AWS has no tab Trust", async () => {
    await using console = await open(address("lambda", ""));
    const { page, complaints } = console;
    await page.getByRole("link", { name: "Details" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "Trust" }).count(), 0);
    assert.deepEqual(complaints, []);
  });

  it("tells a viewer what is missing to clear tokens, and makes no denied call for a viewer or a stranger", async () => {
    const seen = "repo:acme/app:environment:production";
    assert.equal(await exchange("ci", seen), 200);
    await using viewer = await open(address("ci"), "viewer");
    const clear = viewer.page.getByRole("button", { name: "Clear", exact: true });
    await clear.waitFor();
    assert.equal(await clear.getAttribute("aria-disabled"), "true");
    await viewer.page.goto(`${server.url}${address("ci")}&dialog=clear`);
    await seenRow(viewer.page, seen).waitFor();
    assert.equal(await viewer.page.getByRole("dialog").count(), 0);
    await using stranger = await open(address("ci"), "stranger");
    await stranger.page.getByRole("heading").first().waitFor();
    assert.deepEqual([...viewer.complaints, ...stranger.complaints], []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        const seen = `repo:acme/app:environment:${width}-${dark}`;
        assert.equal(await exchange("ci", seen), 200);
        await using console = await open(address("ci"), "owner", { width, dark });
        const { page, complaints } = console;
        await seenRow(page, seen).waitFor();
        await warnings(page).getByRole("listitem").first().waitFor();
        assert.deepEqual(await findProblems(page), []);
        assert.deepEqual(complaints, []);
      });
});
