// People sign in with a real browser: the command line waits, the development provider asks who they are, and the command
// line ends up with a token that works.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { launcher } from "../cli/process.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { viewerRole } from "../security/tree.ts";
import { newPage, openChromium } from "./chromium.ts";
import { signInThere, startPeopleProvider } from "./people-provider.ts";

/** A command line with a home of its own. */
interface CommandLine extends Disposable {
  run(args: readonly string[]): { child: ChildProcess; address: Promise<string>; finished: Promise<string> };
}

function commandLine(url: string): CommandLine {
  const home = mkdtempSync(path.join(tmpdir(), "gatehouse-browser-"));
  const environment = {
    HOME: home,
    XDG_CACHE_HOME: home,
    XDG_CONFIG_HOME: home,
    PATH: process.env.PATH ?? "",
    GATEHOUSE_URL: url,
  };
  return {
    run(args) {
      const child = spawn(process.execPath, [launcher, ...args], { env: environment, cwd: home });
      const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
      const finished = new Promise<string>((resolve, reject) =>
        child.once("close", (code) => (code === 0 ? resolve(stdout.text()) : reject(new Error(stderr.text())))),
      );
      finished.catch(() => {});
      return { child, finished, address: stderr.found(/^ +(http:\S+)$/m) };
    },
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}

function collect(stream: NodeJS.ReadableStream) {
  let text = "";
  stream.on("data", (chunk) => {
    text += String(chunk);
  });
  return {
    text: () => text,
    found: (pattern: RegExp) =>
      new Promise<string>((resolve) => {
        stream.on("data", () => {
          const match = pattern.exec(text);
          if (match) resolve(match[1] ?? "");
        });
      }),
  };
}

describe("a person with a browser", { timeout: 120_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  before(async () => {
    browser = await openChromium();
    server = await startTestServer();
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const uidOf = (name: string) => userUid(`${server.config.baseUrl}/development/login`, name);

  /** Types a name on the page where one chooses who one is, by its label, as a reader of screens would find it. */
  async function choose(page: Page, name: string): Promise<void> {
    await page.getByRole("heading", { name: "Who are you?" }).waitFor();
    await page.getByLabel(/Another person/).fill(name);
    await page.getByRole("button", { name: "Sign in" }).click();
  }

  async function whoIs(cli: CommandLine): Promise<{ subject: string; capabilities: { group: { id: string } }[] }> {
    const token = await cli.run(["auth", "token"]).finished;
    const { status, body } = await rest(server.url, token, "GET", "/auth/v1/ok");
    assert.equal(status, 200);
    return body;
  }

  it("signs in through /oauth, and the command line has a token that works", async () => {
    using cli = commandLine(server.url);
    const login = cli.run(["auth", "login", "--no-browser", "--url", server.url]);
    const { page, complaints } = await newPage(browser);
    await page.goto(await login.address);
    await choose(page, "someone");
    await page.getByText("You are signed in").waitFor();
    assert.match(page.url(), /^http:\/\/localhost:\d+\/$/, "the token stayed in the address bar");
    await login.finished;
    assert.equal((await whoIs(cli)).subject, uidOf("someone"));
    assert.deepEqual(complaints, []);
  });

  it("is a member of the group that an invite is for, once signed in with its code", async () => {
    const path = `/iam/v2beta1/groupInvites/${server.groupUid}`;
    const invite = { roleUid: viewerRole.uid, ttl: "600s", email: "guest@example.org", singleUse: true };
    const { code } = (await rest(server.url, server.ownerToken, "POST", path, invite)).body;
    using cli = commandLine(server.url);
    const login = cli.run(["auth", "login", "--no-browser", "--url", server.url, "--invite-code", code]);
    const { page } = await newPage(browser);
    await page.goto(await login.address);
    await choose(page, "guest");
    await page.getByRole("button", { name: "Join" }).click();
    await login.finished;
    const { subject, capabilities } = await whoIs(cli);
    assert.deepEqual([subject, capabilities.map(({ group }) => group.id)], [uidOf("guest"), [server.groupUid]]);
  });

  it("signs in for a device without a browser, and the page names the device", async () => {
    using cli = commandLine(server.url);
    const login = cli.run(["auth", "login", "--headless", "--url", server.url]);
    const { page, complaints } = await newPage(browser);
    await page.goto(await login.address);
    await page.getByRole("heading", { name: "Sign in for another device" }).waitFor();
    await page.getByRole("link", { name: "Sign in" }).click();
    await choose(page, "elsewhere");
    await page.getByRole("heading", { name: "You are signed in" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "You are signed in" }).waitFor();
    await login.finished;
    assert.equal((await whoIs(cli)).subject, uidOf("elsewhere"));
    assert.deepEqual(complaints, []);
  });

  it("signs in by the provider of an organization, and has its default role", async () => {
    await using provider = await startPeopleProvider();
    const { issuer, clientId, clientSecret } = provider;
    const created = await rest(
      server.url,
      server.ownerToken,
      "POST",
      `/iam/v2beta1/identityProviders/${server.groupUid}`,
      {
        name: "own",
        defaultRole: viewerRole.uid,
        oidc: { issuer, clientId, clientSecret },
      },
    );
    provider.register(`${server.config.baseUrl}/oauth/callback/${created.body.uid}`);
    using cli = commandLine(server.url);
    const flags = ["--no-browser", "--url", server.url, "--identity-provider", created.body.uid];
    const login = cli.run(["auth", "login", ...flags]);
    const { page } = await newPage(browser);
    await page.goto(await login.address);
    await signInThere(page, "colleague");
    await page.getByRole("button", { name: "Join" }).click();
    await login.finished;
    const { subject, capabilities } = await whoIs(cli);
    assert.equal(subject, userUid(issuer, "colleague"));
    assert.deepEqual(
      capabilities.map(({ group }) => group.id),
      [server.groupUid],
    );
  });

  it("signs in by keyboard alone, on a narrow screen, in dark mode", async () => {
    using cli = commandLine(server.url);
    const login = cli.run(["auth", "login", "--headless", "--url", server.url]);
    const { page, complaints } = await newPage(browser);
    await page.setViewportSize({ width: 320, height: 640 });
    await page.emulateMedia({ colorScheme: "dark" });
    const looked: string[] = [];
    const look = async () => {
      looked.push(await page.title());
      const shown = `[document.documentElement.lang, document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor]`;
      assert.deepEqual(await page.evaluate(shown), ["en", 320, "rgb(13, 16, 21)"], looked.at(-1) ?? "");
    };
    await page.goto(await login.address);
    await look();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Who are you?" }).waitFor();
    await look();
    // Past the two who are there from the start.
    for (const _ of ["owner", "viewer", "someone else"]) await page.keyboard.press("Tab");
    await page.keyboard.type("keys");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "You are signed in" }).waitFor();
    await look();
    await login.finished;
    assert.equal(new Set(looked).size, 3);
    assert.deepEqual(complaints, []);
  });

  it("is told on a page when a sign-in cannot begin", async () => {
    const { page } = await newPage(browser);
    await page.goto(`${server.url}/oauth?redirect=https://evil.example/`);
    assert.match((await page.getByRole("alert").textContent()) ?? "", /redirect: must be an http address/);
  });
});
