// Tests changes of an identity's accepted tokens in a real browser.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
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

const claimMatch = {
  issuer: "https://ci.example.org",
  subject: "repo:acme/app",
  claims: { ref: "main", "<i>hostile</i>": "<b>value</b>" },
};

describe("the claims of an identity", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let ci: string;
  let keys: string;
  let aws: string;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    const make = (body: object) => createResource(server, `identities/${server.groupUid}`, body);
    ci = await make({ name: "ci", claimMatch });
    keys = await make({
      name: "bot",
      staticKeys: { issuer: "https://bot.example.org", subject: "bot", issuerKeys: await keySet("first") },
    });
    const principal = { awsAccount: "111111111111", arnPattern: "arn:aws:.*", userIdPattern: ".*" };
    aws = await make({ name: "lambda", awsIdentity: principal });
    const roleUid = builtInRoleUid("viewer");
    await createResource(server, `roleBindings/${server.groupUid}`, { identityUid: ci, roleUid });
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const address = (uid: string, dialog = "&dialog=claims") =>
    `/console/o/${server.groupUid}/identities/${uid}?${dialog}`;

  async function open(path: string, as = "owner", look: { width?: number; dark?: boolean } = {}) {
    const console = await openConsole(browser, server, { path, ...look });
    await signIn(console.page, as);
    return console;
  }

  const read = async (uid: string) =>
    (await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/identities/${uid}`)).body;
  const button = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });

  it("says what a change lets in and which roles it gets, names the wrong field, and saves", async () => {
    await using console = await open(address(ci));
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Subject (sub)", { exact: true }).fill("repo:acme/(");
    await dialog.getByLabel("Subject (sub) is an RE2 pattern").check();
    await dialog.getByRole("button", { name: "Remove ref" }).click();
    await button(page, "Add claim").click();
    await dialog.getByLabel("Claim 2").fill("environment");
    await dialog.getByLabel("Value 2").fill("production");
    const preview = dialog.getByRole("region", { name: "What the change lets in" });
    const effects = await preview.getByRole("listitem").allTextContents();
    assert.deepEqual(effects.slice(0, 3), [
      "sub ≠ other tokens: those of before may be deniedrepo:acme/app → /repo:acme/(/",
      "ref + more tokens: it is no longer asked formain → anything",
      "environment − fewer tokens: it is asked for in additionanything → production",
    ]);
    await preview.getByText("viewer at example.org").waitFor();
    assert.deepEqual(await findProblems(page), []);

    await button(page, "Save changes").click();
    const field = dialog.locator("[name=subject_pattern][aria-invalid=true]");
    await field.waitFor();
    await page.locator("[name=subject_pattern]:focus").waitFor();
    await field.fill("repo:acme/.*");
    await page.keyboard.press("Control+Enter");
    await dialog.waitFor({ state: "detached" });
    const { claimMatch: saved } = await read(ci);
    assert.equal(saved.subjectPattern, "repo:acme/.*");
    assert.equal(saved.subject, undefined);
    assert.deepEqual(saved.claims, { "<i>hostile</i>": "<b>value</b>", environment: "production" });
    assert.deepEqual(
      complaints.filter((text) => !text.includes("400 (Bad Request)")),
      [],
    );
  });

  it("shows what another person has changed, and keeps their other changes", async () => {
    await using console = await open(address(ci));
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Issuer (iss)", { exact: true }).fill("https://mine.example.org");
    const theirs = { uid: ci, claimMatch: { issuer: "https://theirs.example.org", audience: "theirs" } };
    const mask = "claim_match.issuer,claim_match.audience";
    const path = `/iam/v2beta1/identities/${ci}?updateMask=${mask}`;
    assert.equal((await rest(server.url, server.ownerToken, "PATCH", path, theirs)).status, 200);
    await button(page, "Save changes").click();
    const row = dialog.getByRole("row", { name: /^issuer/ });
    assert.match((await row.textContent()) ?? "", /theirs.example.org.*mine.example.org/);
    await button(page, "Save mine").click();
    await dialog.waitFor({ state: "detached" });
    const { claimMatch: saved } = await read(ci);
    assert.deepEqual([saved.issuer, saved.audience], ["https://mine.example.org", "theirs"]);
    assert.deepEqual(complaints, []);
  });

  it("replaces static keys by one that the browser makes, and extends their end", async () => {
    await using console = await open(address(keys));
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog");
    const end = new Date(Date.now() + 300 * 24 * 3_600_000).toISOString().slice(0, 10);
    await dialog.getByLabel("Keys end on").fill(end);
    await dialog.getByLabel("Make a new key in this browser").check();
    await dialog.getByText("Tokens that the present keys signed are denied from now on.").waitFor();
    await dialog.getByText(`The keys end on ${end}.`).waitFor();
    const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Save changes").click()]);
    assert.equal(file.suggestedFilename(), "bot-key.json");
    const key = JSON.parse(await readFile(await file.path(), "utf8"));
    assert.ok(key.d);
    await dialog.waitFor({ state: "detached" });
    const { staticKeys } = await read(keys);
    assert.equal(staticKeys.expirationTime, `${end}T00:00:00.000Z`);
    const [stored] = JSON.parse(staticKeys.issuerKeys).keys;
    assert.deepEqual([stored.kid, stored.d], [key.kid, undefined]);
    assert.deepEqual(complaints, []);
  });

  it("names what is wrong with a pasted key set and with an end that is too late", async () => {
    await using console = await open(address(keys));
    const { page } = console;
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Use this key set").check();
    await dialog.getByLabel("JSON Web Key Set").fill("{}");
    await dialog.getByLabel("Keys end on").fill("2999-01-01");
    await button(page, "Save changes").click();
    await dialog.locator("[name=issuer_keys][aria-invalid=true]").waitFor();
    await dialog.getByText("must be at most 365 days after the creation").waitFor();
    await dialog.getByLabel("Keys end on").fill("");
    await dialog.getByLabel("JSON Web Key Set").fill(await keySet("second"));
    await button(page, "Save changes").click();
    await dialog.waitFor({ state: "detached" });
    const { staticKeys } = await read(keys);
    assert.equal(JSON.parse(staticKeys.issuerKeys).keys[0].kid, "second");
  });

  it("changes an AWS identity by keyboard", async () => {
    await using console = await open(address(aws, ""));
    const { page, complaints } = console;
    await page.getByRole("button", { name: "More actions" }).press("Enter");
    await page.getByRole("menuitem", { name: "Change claims" }).press("Enter");
    const account = page.getByRole("dialog").getByLabel("AWS account");
    await account.waitFor();
    await page.locator("[name=aws_account]:focus").waitFor();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("222222222222");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.deepEqual((await read(aws)).awsIdentity, {
      awsAccount: "222222222222",
      arnPattern: "arn:aws:.*",
      userIdPattern: ".*",
    });
    assert.deepEqual(complaints, []);
  });

  it("tells a viewer what is missing, and opens no dialog for a viewer or a stranger", async () => {
    await using viewer = await open(address(ci), "viewer");
    await viewer.page.getByRole("button", { name: "More actions" }).press("Enter");
    const change = viewer.page.getByRole("menuitem", { name: /^Change claims.*You lack identity\.update/ });
    await change.waitFor();
    assert.equal(await change.getAttribute("aria-disabled"), "true");
    await change.press("Enter");
    await viewer.page
      .getByRole("status")
      .getByText(/identity\.update/)
      .waitFor();
    assert.equal(await viewer.page.getByRole("dialog").count(), 0);
    await using stranger = await open(address(ci), "stranger");
    await stranger.page.getByRole("heading").first().waitFor();
    assert.equal(await stranger.page.getByRole("dialog").count(), 0);
    assert.deepEqual([...viewer.complaints, ...stranger.complaints], []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await open(address(ci), "owner", { width, dark });
        const { page, complaints } = console;
        await page.getByRole("dialog").getByLabel("Subject (sub)", { exact: true }).fill("other");
        await button(page, "Add pattern").click();
        assert.deepEqual(await findProblems(page), []);
        await page.goto(server.url + address(keys));
        await page.getByRole("dialog").getByLabel("Use this key set").check();
        await page.getByLabel("JSON Web Key Set").waitFor();
        assert.deepEqual(await findProblems(page), []);
        assert.deepEqual(complaints, []);
      });
});

/** Returns a set of one public key. */
async function keySet(kid: string): Promise<string> {
  const { publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  return JSON.stringify({ keys: [{ kty, crv, x, y, kid, alg: "ES256", use: "sig" }] });
}
