// Makes pictures of the views of the console, for docs/console.md: `npm run screenshots -- FOLDER`, after a build of the console.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Sqlite from "better-sqlite3";
import type { Browser, Page } from "playwright-core";
import { ownerTokenFiles } from "../../src/server/development/owner-token-files.ts";
import { launcher } from "../cli/process.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { accessPictures, addAccessExamples, type Stage } from "./access-pictures.ts";
import { openChromium } from "./chromium.ts";
import { addIdentityExamples, identityPictures } from "./identity-pictures.ts";
import { untilQuiet } from "./quiet.ts";
import { openReceiver } from "./receiver.ts";
import { addRegistryExamples, registryPictures } from "./registry-pictures.ts";

const folder = path.resolve(process.argv[2] ?? "docs/images/console");
const sizes = [
  { name: "wide", width: 1280, height: 800 },
  { name: "narrow", width: 375, height: 740 },
] as const;
const schemes = ["light", "dark"] as const;

mkdirSync(folder, { recursive: true });
const data = mkdtempSync(path.join(tmpdir(), "gatehouse-screens-"));
const port = await freePort();
const args = ["serve", "--dev", "--listen", `127.0.0.1:${port}`, "--data-dir", data];
const server = spawn(process.execPath, [launcher, ...args], { stdio: ["ignore", "pipe", "ignore"] });
for await (const output of server.stdout.iterator({ destroyOnReturn: false })) {
  if (String(output).includes("listens on")) break;
}
server.stdout.resume();
const stage = await openStage();
const browser = await openChromium();
const receivers = [
  await openReceiver({ status: 202, text: "accepted" }, "/hooks/chat"),
  await openReceiver({ status: 503, text: "the queue is full, try again later" }, "/hooks/siem"),
] as const;
try {
  for (const size of sizes) for (const scheme of schemes) await pictures(browser, size, scheme);
} finally {
  await browser.close();
  for (const receiver of receivers) receiver.close();
  server.kill("SIGTERM");
  rmSync(data, { recursive: true, force: true });
}

/** Returns the server with examples for the views. */
async function openStage(): Promise<Stage> {
  const url = `http://127.0.0.1:${port}`;
  const token = readFileSync(path.join(data, ownerTokenFiles.api), "utf8").trim();
  const { body } = await rest(url, token, "GET", "/iam/v2beta1/groups?name=example.org");
  const opened = { url, token, org: body.groups[0].uid };
  await addAccessExamples(opened);
  await addIdentityExamples(opened);
  await addRegistryExamples(opened);
  await addManyGroups(opened);
  addStatistics(opened);
  return opened;
}

/** Adds counts of a month: the server has run for a few seconds only. */
function addStatistics({ org }: Stage): void {
  const database = new Sqlite(path.join(data, "gatehouse.db"), { timeout: 5000 });
  const insert = database.prepare(
    "INSERT OR REPLACE INTO daily_counts (group_uid, metric, day, count) VALUES (?, ?, ?, ?)",
  );
  const today = Math.floor(Date.now() / 86_400_000) * 86_400_000;
  const open = { critical: 4, high: 11, medium: 17, low: 6 };
  for (let ago = 1; ago < 30; ago++) {
    const day = today - ago * 86_400_000;
    const isWeekend = [0, 6].includes(new Date(day).getUTCDay());
    const signIns = isWeekend ? 3 + (ago % 3) : 18 + ((ago * 7) % 11);
    insert.run(org, "sign_ins", day, signIns);
    insert.run(org, "access_changes", day, isWeekend ? 0 : (ago * 5) % 8);
    insert.run(org, "denials", day, (ago * 3) % 4);
  }
  for (const [severity, count] of Object.entries(open)) insert.run(org, `advisories_open_${severity}`, today, count);
  database.close();
}

/** Adds a group with more children than a page of the tree. */
async function addManyGroups({ url, token, org }: Stage): Promise<void> {
  const create = async (name: string, parent: string) =>
    (await rest(url, token, "POST", `/iam/v2beta1/groups/${parent}`, { name, description: "" })).body.uid;
  const parent = await create("customers", org);
  for (let i = 0; i < 240; i++) await create(`customer ${String(i).padStart(3, "0")}`, parent);
}

async function pictures(
  browser: Browser,
  size: (typeof sizes)[number],
  scheme: (typeof schemes)[number],
): Promise<void> {
  const context = await browser.newContext({ viewport: size, colorScheme: scheme, locale: "en" });
  const page = await context.newPage();
  const shoot = async (view: string) => {
    await untilQuiet(page);
    await page.waitForTimeout(300);
    await page.screenshot({ path: path.join(folder, `${view}-${size.name}-${scheme}.png`) });
  };
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await shoot("sign-in");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "owner" }).waitFor();
  await shoot("chooser");
  await page.getByRole("link", { name: "owner" }).click();
  await page.getByRole("heading", { name: /Overview/ }).waitFor();
  await shoot("overview");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill("e");
  await page.getByRole("option", { name: /engineering/ }).waitFor();
  await shoot("palette");
  await page.keyboard.press("Escape");
  await groups(page, shoot, size.name === "narrow");
  await accessPictures(page, stage, shoot);
  await identityPictures(page, stage, shoot);
  await registryPictures(page, stage, shoot);
  await events(page, shoot);
  for (const [view, address] of [
    ["people", "people/"],
    ["invites", "sign-in/?tab=invites"],
    ["providers", "sign-in/"],
  ] as const) {
    await page.goto(`${stage.url}/console/o/${stage.org}/${address}`);
    await page.locator("tr[data-key]").first().waitFor();
    await shoot(view);
  }
  await page.goto(`${stage.url}/console/o/${stage.org}/workloads/`);
  await page.getByRole("link", { name: "deploy", exact: true }).click();
  await page.getByRole("heading", { name: "deploy" }).waitFor();
  await untilQuiet(page);
  await shoot("workload");
  await page.goto(`${stage.url}/console/o/${stage.org}/advisories/`);
  await page.locator("tr[data-key] a").first().click();
  await page.getByRole("heading", { name: "Severity" }).waitFor();
  await shoot("advisory");
  await page.goto(`${stage.url}/console/o/${stage.org}/audit`);
  await page.getByRole("list", { name: "Audit log" }).getByRole("button", { expanded: false }).first().click();
  await shoot("audit");
  await page.goto(`http://127.0.0.1:${port}/console/me`);
  await page.getByRole("heading", { name: "Your sessions" }).waitFor();
  await shoot("me");
  await page.goto(`http://127.0.0.1:${port}/console/operate`);
  await page.getByRole("heading", { name: "Signing keys" }).waitFor();
  await shoot("operate");
  await page.goto(`http://127.0.0.1:${port}/docs/api/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup`);
  await page.getByRole("heading", { name: "Errors" }).waitFor();
  await shoot("api");
  await page.goto(`http://127.0.0.1:${port}/docs/`);
  await shoot("guides");
  await context.close();
}

async function groups(page: Page, shoot: (view: string) => Promise<void>, isNarrow: boolean): Promise<void> {
  if (isNarrow) await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("navigation").getByRole("link", { name: "Groups" }).click();
  await page.getByRole("treeitem", { name: /engineering/ }).click();
  await page.getByRole("heading", { name: "engineering" }).waitFor();
  await shoot("groups");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").waitFor();
  await shoot("delete");
  await page.keyboard.press("Escape");
  await page.getByRole("treeitem", { name: /^customers/ }).click();
  await page.getByRole("heading", { name: "customers" }).waitFor();
  await page.getByRole("treeitem", { name: /^customers/ }).press("ArrowRight");
  await page.getByLabel("Jump to a name").fill("customer 120");
  await page.getByRole("treeitem", { name: /^customer 120/ }).waitFor();
  await shoot("groups-many");
}

async function events(page: Page, shoot: (view: string) => Promise<void>): Promise<void> {
  await page.goto(page.url().replace(/(\/o\/[^/]+)\/.*/, "$1/events/"));
  await page.getByRole("button", { name: "New subscription" }).waitFor();
  await untilQuiet(page);
  for (const { url } of receivers) {
    // The pictures of the first size and scheme have created them.
    if ((await page.getByRole("link", { name: url }).count()) > 0) continue;
    await page.getByRole("button", { name: "New subscription" }).click();
    await page.getByRole("dialog").getByLabel("Sink").fill(url);
    await page.getByRole("button", { name: "Create subscription" }).click();
    await page.getByRole("heading", { name: url }).waitFor();
  }
  await page.getByRole("link", { name: receivers[1].url }).click();
  await page.getByText(receivers[1].answer.text).nth(2).waitFor();
  await page.reload();
  await page.getByText(receivers[1].answer.text).nth(2).waitFor();
  await shoot("events");
}
