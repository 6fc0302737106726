// A real browser is asked before its person joins an organization: at a sign-in, and in the console.
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { viewerRole } from "../security/tree.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, complaintsOf, findProblems, openConsole, signIn } from "./console.ts";

describe("a person who is asked to join", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  const running = new AsyncDisposableStack();
  before(async () => {
    buildConsole();
    browser = await openChromium();
    running.defer(() => browser.close());
    server = running.use(await startTestServer());
  });
  after(() => running.disposeAsync());

  const uidOf = (name: string) => userUid(`${server.config.baseUrl}/development/login`, name);
  const api = async (method: string, path: string, body?: object) =>
    (await rest(server.url, server.ownerToken, method, `/iam/v2beta1/${path}`, body)).body;
  const bindingsOf = async (name: string) => (await api("GET", `roleBindings?identity=${uidOf(name)}`)).roleBindings;

  /** Returns a program that waits for a token, and the tokens that it got. */
  async function startProgram(host: string): Promise<{ url: string; tokens: string[]; server: Server }> {
    const tokens: string[] = [];
    const program = createServer((request, response) => {
      tokens.push(new URL(request.url ?? "", "http://localhost").searchParams.get("token") ?? "");
      response.end("done");
    });
    await new Promise<void>((resolve) => program.listen(0, host, resolve));
    running.defer(() => {
      program.closeAllConnections();
      program.close();
    });
    const { port } = program.address() as AddressInfo;
    return { url: `http://${host.includes(":") ? `[${host}]` : host}:${port}/`, tokens, server: program };
  }

  /** Comes to the question with an invite. */
  async function ask(
    name: string,
    redirect: string,
    options: object = {},
  ): Promise<{ page: Page; complaints: string[] }> {
    const { code } = await api("POST", `groupInvites/${server.groupUid}`, { roleUid: viewerRole.uid, ttl: "600s" });
    const context = await browser.newContext({ locale: "en", ...options });
    running.defer(() => context.close());
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(`${server.url}/oauth?${new URLSearchParams({ redirect, invite: code })}`);
    await page.getByLabel(/Another person/).fill(name);
    await page.getByRole("button", { name: "Sign in" }).click();
    return { page, complaints };
  }

  for (const [host, answer, options] of [
    ["127.0.0.1", "Join", {}],
    ["::1", "Join", { colorScheme: "dark" }],
    ["127.0.0.1", "Not now", { viewport: { width: 375, height: 700 } }],
    ["127.0.0.1", "Decline", { javaScriptEnabled: false }],
  ] as const)
    it(`answers "${answer}" on the page of a sign-in for a program at ${host}, which gets its token`, async () => {
      const program = await startProgram(host);
      const name = `${answer.toLowerCase().replace(" ", "-")}-${host.replaceAll(/\W/g, "")}`;
      const { page, complaints } = await ask(name, program.url, options);
      await page.getByRole("heading", { name: "Join this organization?" }).waitFor();
      await page.reload();
      await page.getByText("example.org", { exact: true }).waitFor();
      await page.screenshot({
        path: `${process.env.SCREENSHOTS ?? "/tmp"}/gatehouse-join-${name}.png`,
        fullPage: true,
      });
      if (!("javaScriptEnabled" in options)) assert.deepEqual(await findProblems(page), []);
      assert.deepEqual([await bindingsOf(name), program.tokens], [[], []]);
      await page.getByRole("button", { name: answer }).press("Enter");
      await page.getByText("done").waitFor();
      assert.equal((await bindingsOf(name)).length, answer === "Join" ? 1 : 0);
      assert.equal(program.tokens.length > 0, true);
      assert.deepEqual(
        complaints.filter((line) => !/favicon|a token in an address: http:\/\/(127|\[::1)/.test(line)),
        [],
      );
    });

  it("reads the page in German", async () => {
    const { page } = await ask("german", "http://localhost:1/", { locale: "de-DE" });
    await page.getByRole("heading", { name: "Dieser Organisation beitreten?" }).waitFor();
    await page.screenshot({ path: `${process.env.SCREENSHOTS ?? "/tmp"}/gatehouse-join-german.png`, fullPage: true });
    assert.deepEqual(await findProblems(page), []);
  });

  it("the console shows a card to a person who has not joined, and no call names the organization before", async () => {
    await bindRole(server, "pending", "viewer", true);
    const path = `/console/o/${server.groupUid}/groups/${server.groupUid}`;
    await using opened = await openConsole(browser, server, { path });
    const { page, complaints } = opened;
    await signIn(page, "pending");
    await page.getByRole("heading", { name: "Join this organization?" }).waitFor();
    await page.getByText("It gives you: viewer.").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.screenshot({ path: `${process.env.SCREENSHOTS ?? "/tmp"}/gatehouse-join-card.png` });
    assert.deepEqual((await bindingsOf("pending"))[0].identity, { uid: uidOf("pending") });
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("heading", { name: "example.org" }).waitFor();
    assert.equal((await bindingsOf("pending"))[0].identity.name, "pending");
    assert.deepEqual(complaints, []);
  });

  it("puts the decision off, declines, and leaves in the view of the own account", async () => {
    await bindRole(server, "leaver", "viewer", true);
    await using opened = await openConsole(browser, server, { path: "/console/" });
    const { page, complaints } = opened;
    await signIn(page, "leaver");
    await page.getByRole("button", { name: "Not now" }).click();
    await page.getByRole("button", { name: "Decline" }).waitFor({ state: "detached" });
    assert.equal((await bindingsOf("leaver")).length, 1);
    await page.reload();
    await page.getByRole("button", { name: "Decline" }).click();
    await page.getByRole("button", { name: "Decline" }).waitFor({ state: "detached" });
    assert.deepEqual(await bindingsOf("leaver"), []);

    await bindRole(server, "leaver", "viewer");
    await page.goto(`${server.url}/console/me`);
    await page.getByRole("button", { name: "Leave example.org" }).click();
    await page.getByRole("button", { name: "Leave organization" }).click();
    await page.getByRole("heading", { name: "Your organizations" }).waitFor({ state: "detached" });
    assert.deepEqual(await bindingsOf("leaver"), []);
    assert.deepEqual(complaints, []);
  });
});
