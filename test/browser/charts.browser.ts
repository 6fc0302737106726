// Charts in a real browser: the picture, its table, and what the arrow keys read are the same figures.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { compareCounts, setDailyCounts } from "../../src/storage/statistics/daily-counts.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { arrange } from "../security/tree.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, findProblems, openConsole, signIn } from "./console.ts";

const dayMs = 24 * 3_600_000;

describe("charts", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let group: string;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    const today = Math.floor(server.clock() / dayMs) * dayMs;
    const rows = ["access_changes", "denials", "advisories_open_critical", "advisories_open_low"].flatMap(
      (metric, at) =>
        [3, 2, 1].map((ago) => ({ groupUid: server.groupUid, metric, day: today - ago * dayMs, count: ago * 10 + at })),
    );
    group = await createGroup(server, "builds", server.groupUid);
    const yesterday = today - dayMs;
    rows.push(
      { groupUid: group, metric: "denials", day: yesterday, count: 4 },
      { groupUid: server.groupUid, metric: "deliveries", day: yesterday, count: 7 },
    );
    await arrange(server, (tx) => setDailyCounts(tx, rows.sort(compareCounts)));
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const chart = (page: Page) => page.getByRole("slider", { name: "Activity of the last 30 days" });

  async function open(as: string, options: { width?: number; dark?: boolean } = {}) {
    const console = await openConsole(browser, server, {
      path: `/console/o/${server.groupUid}/overview`,
      ...options,
    });
    await signIn(console.page, as);
    await console.page.getByRole("heading", { name: /Overview/ }).waitFor();
    return console;
  }

  it("arrow keys read each day, and the table has the same figures", async () => {
    await using console = await open("owner");
    const { page, complaints } = console;
    await chart(page).focus();
    await page.keyboard.press("Home");
    const read: string[] = [];
    for (let day = 0; day < 30; day++) {
      read.push((await chart(page).getAttribute("aria-valuetext")) ?? "");
      await page.keyboard.press("ArrowRight");
    }
    assert.equal(new Set(read).size, 30);
    assert.match(read[26] ?? "", /Sign-ins 0, Changes of access 30, Denied 31$/);
    const card = page.getByRole("region", { name: "Activity of the last 30 days" });
    await card.getByRole("button", { name: "Table" }).click();
    const rows = page.getByRole("table", { name: "Activity of the last 30 days" }).locator("tbody tr");
    const cells = await Promise.all(
      Array.from({ length: 30 }, (_, day) => rows.nth(day).locator("td").allTextContents()),
    );
    const titles = ["", "Sign-ins ", "Changes of access ", "Denied "];
    const listed = cells.map((row) => row.map((cell, at) => `${titles[at]}${cell}`).join(", "));
    assert.deepEqual(listed, read);
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  it("the open advisories are those of the latest day that was counted", async () => {
    await using console = await open("owner");
    const card = console.page.getByRole("region", { name: "Open advisories by severity" });
    await card.getByText("Critical").waitFor();
    assert.deepEqual(await card.getByRole("listitem").allTextContents(), [
      "Critical 12",
      "High 0",
      "Medium 0",
      "Low 13",
    ]);
    const bar = card.getByRole("slider", { name: "Open advisories by severity" });
    await bar.focus();
    const read: string[] = [];
    for (const key of ["Home", "ArrowRight", "ArrowRight", "ArrowRight"]) {
      await console.page.keyboard.press(key);
      read.push((await bar.getAttribute("aria-valuetext")) ?? "");
    }
    assert.deepEqual(read, ["Critical 12", "High 0", "Medium 0", "Low 13"]);
    await card.getByRole("button", { name: "Table" }).click();
    const rows = card.getByRole("table", { name: "Open advisories by severity" }).locator("tbody tr");
    const listed = (await rows.all()).map(async (row) => (await row.locator("td").allTextContents()).join(" "));
    assert.deepEqual(await Promise.all(listed), read);
    assert.deepEqual(await findProblems(console.page), []);
    assert.deepEqual(console.complaints, []);
  });

  it("a group has the chart of what happened in it, and the webhooks that of their deliveries", async () => {
    await using console = await open("owner");
    const { page, complaints } = console;
    await page.goto(`${server.url}/console/o/${server.groupUid}/groups/${group}`);
    await chart(page).focus();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    assert.match(
      (await chart(page).getAttribute("aria-valuetext")) ?? "",
      /Sign-ins 0, Changes of access 0, Denied 4$/,
    );
    assert.deepEqual(await findProblems(page), []);
    await page.goto(`${server.url}/console/o/${server.groupUid}/events/`);
    const deliveries = page.getByRole("slider", { name: "Deliveries of the last 30 days" });
    await deliveries.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    assert.match((await deliveries.getAttribute("aria-valuetext")) ?? "", /Delivered 7, Failed attempts 0$/);
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  for (const width of [1280, 375])
    for (const dark of [false, true])
      it(`are accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await open("owner", { width, dark });
        await chart(console.page).waitFor();
        assert.deepEqual(await findProblems(console.page), []);
        assert.deepEqual(console.complaints, []);
      });
});
