// `npm run suites -- dev`: `npm run dev` on a copy of the repository, whose files are edited while a user is signed in with Chromium.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { pageHeaders } from "../../../src/console/page-headers.ts";
import { openChromium } from "../../browser/chromium.ts";
import { complaintsOf, signIn } from "../../browser/console.ts";
import { freePort } from "../../harness/postgres.ts";

/** Below `console`, whose packages its modules find there. Not a workspace: Vite serves the files of the outermost one. */
const copy = path.resolve("console/.cache/dev");
const stack = '<div className="stack">';
const data = mkdtempSync(path.join(tmpdir(), "gatehouse-dev-"));

describe("npm run dev", { timeout: 180_000 }, () => {
  let url: string;
  let server: ChildProcess;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  before(async () => {
    copyRepository();
    url = `http://127.0.0.1:${await freePort()}`;
    const settings = ["--listen", new URL(url).host, "--data-dir", data];
    server = spawn(process.execPath, ["console/dev.js", ...settings], {
      cwd: copy,
      stdio: "ignore",
    });
    await until(isReady);
    browser = await openChromium();
    page = await (await browser.newContext({ locale: "en" })).newPage();
    complaints = complaintsOf(page);
  });
  after(async () => {
    await browser?.close();
    server?.kill("SIGKILL");
    for (const folder of [copy, data]) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  async function isReady(): Promise<boolean> {
    return await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  it("signs a user in at the public address", async () => {
    await page.goto(url);
    await signIn(page, "owner");
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert.ok(page.url().startsWith(`${url}/console/`));
  });

  it("replaces a component in the open page, which is not loaded again and stays signed in", async (t) => {
    await page.evaluate("globalThis.isSamePage = true");
    const saved = edit("console/src/views/overview/overview.tsx", stack, `${stack}<p>edited component</p>`);
    await page.getByText("edited component").first().waitFor();
    t.diagnostic(`the page showed the saved component after ${Date.now() - saved} ms`);
    assert.equal(await page.evaluate("globalThis.isSamePage"), true);
    assert.equal(await page.getByRole("button", { name: "Sign in" }).count(), 0);
  });

  it("starts the server again when a file of src is saved, and the user stays signed in", async (t) => {
    const saved = edit("src/console/console-pages.ts", 'health: "/healthz"', 'edited: "yes", health: "/healthz"');
    await until(async () => {
      const answer = await fetch(url, { headers: { accept: "application/json" } }).catch(() => undefined);
      return answer?.ok === true && (await answer.text()).includes('"edited":"yes"');
    });
    t.diagnostic(`the server gave the changed answer after ${Date.now() - saved} ms`);
    await until(isReady);
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Sign in" }).count(), 0);
  });

  it("serves the API reference under the policy of the console", async () => {
    const reply = await page.goto(`${url}/docs/api/`);
    await page.getByRole("heading", { name: "API reference" }).waitFor();
    assert.equal(reply?.headers()["content-security-policy"], pageHeaders("vite")["content-security-policy"]);
  });

  it("the browser complains of no policy, module or script while files are edited", () => {
    // Vite answers so while the server behind it starts again.
    const unreachable = "Failed to load resource: the server responded with a status of 502 (Bad Gateway)";
    assert.deepEqual(
      complaints.filter((text) => !text.startsWith(unreachable)),
      [],
    );
  });

  it("frees both ports within five seconds after Ctrl-C", { timeout: 5_000 }, async () => {
    const ended = once(server, "exit");
    server.kill("SIGINT");
    await ended;
    const port = Number(new URL(url).port);
    for (const each of [port, port + 1]) await listen(each);
  });
});

function copyRepository(): void {
  rmSync(copy, { recursive: true, force: true });
  const parts = readdirSync("console").filter((name) => name !== "node_modules" && name !== ".cache");
  for (const name of ["src", "gen", "packages", "tsconfig.json", ...parts.map((part) => `console/${part}`)])
    cpSync(name, path.join(copy, name), { recursive: true });
  const { workspaces: _, ...manifest } = JSON.parse(readFileSync("package.json", "utf8"));
  writeFileSync(path.join(copy, "package.json"), JSON.stringify(manifest));
}

/** Replaces a text in a file of the copy, and returns when. */
function edit(file: string, from: string, to: string): number {
  const name = path.join(copy, file);
  const text = readFileSync(name, "utf8");
  assert.ok(text.includes(from), `${file} has ${from}`);
  writeFileSync(name, text.replace(from, to));
  return Date.now();
}

/** Waits until a condition holds; the limit is that of the test. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(20);
}

/** Throws unless the port is free. */
async function listen(port: number): Promise<void> {
  const probe = createServer().listen(port, "127.0.0.1");
  await once(probe, "listening");
  probe.close();
}
