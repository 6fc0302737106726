// The advisories in the console: facets, search, the timeline of one advisory.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, findProblems, openConsoleAs } from "./console.ts";

const hostile = "<img src=x onerror=alert(1)>";

/** Returns a record on one vulnerability of a package; with `fixed` also the version that fixed it. */
function record(id: string, name: string, aliases: readonly string[], fixed?: string): object {
  const events = [
    { type: "RANGE_EVENT_TYPE_INTRODUCED", version: "0" },
    ...(fixed === undefined ? [] : [{ type: "RANGE_EVENT_TYPE_FIXED", version: fixed }]),
  ];
  return {
    source: "osv",
    document: id,
    vulnerability: id,
    advisoryId: id,
    format: "RECORD_FORMAT_OSV",
    modifyTime: "2026-01-02T03:04:05.000Z",
    aliases,
    summary: hostile,
    details: `Reads **too far** of ${name}. [More](https://example.org/${id}), [none](javascript:alert(1)) ${hostile}`,
    publishTime: aliases[0] === "CVE-2031-1" ? "2025-08-02T03:04:05.000Z" : "2025-01-02T03:04:05.000Z",
    references: [
      { type: "FIX", url: `https://example.org/fix/${id}` },
      { type: "ADVISORY", url: "javascript:alert(1)", summary: "No address of the web" },
    ],
    severities: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H" }],
    statements: [
      {
        product: { purl: `pkg:npm/${name}`, ecosystem: "npm", name },
        status: "PRODUCT_STATUS_AFFECTED",
        ranges: [{ type: "SEMVER", events }],
      },
    ],
  };
}

describe("the advisories in the console", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer({});
    const records = [
      record("GHSA-2031-1", "left", ["CVE-2031-1"], "1.3.0"),
      record("GHSA-2031-2", "right", ["CVE-2031-1"]),
      ...Array.from({ length: 60 }, (_, i) =>
        record(`GHSA-2031-${100 + i}`, `package-${i}`, [`CVE-2031-${100 + i}`], "2.0"),
      ),
    ];
    const path = `/gatehouse/vulnerabilities/v1/records/${server.groupUid}:import`;
    const { status, body } = await rest(server.url, server.ownerToken, "POST", path, { records });
    assert.equal(status, 200, JSON.stringify(body));
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const pathOf = (search = "") => `/console/o/${server.groupUid}/advisories/${search}`;

  const openAs = (name: string, path: string, options: { readonly width?: number; readonly dark?: boolean } = {}) =>
    openConsoleAs(browser, server, name, { path, ...options });

  it("narrows the list by facets, which stand in the address with their counts", async () => {
    await using console = await openAs("viewer", pathOf());
    const { page, complaints } = console;
    await page.getByText("62 results").waitFor();
    await page.getByRole("button", { name: "affected 1", exact: true }).click();
    await page.getByText("1 result", { exact: true }).waitFor();
    await page.getByRole("link", { name: "GHSA-2031-2" }).waitFor();
    assert.match(page.url(), /status=affected/);
    const chips = page.getByRole("list", { name: "Filters in force" });
    await chips.getByRole("button", { name: /affected/ }).click();
    await page.getByText("62 results").waitFor();
    assert.doesNotMatch(page.url(), /status=/);
    await page.getByRole("button", { name: "fixed 61", exact: true }).click();
    await page.getByText("61 results").waitFor();
    await page.getByRole("button", { name: "Next page" }).click();
    await page.getByText("51–61 of 61").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByText("62 results").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("finds an advisory by its alias, and shows its events and the others on the vulnerability", async () => {
    await using console = await openAs("owner", pathOf());
    const { page, complaints } = console;
    await page.keyboard.press("/");
    await page.getByRole("searchbox").fill("cve-2031-1");
    await page.getByRole("link", { name: "GHSA-2031-1", exact: true }).waitFor();
    const row = page.getByRole("row", { name: /GHSA-2031-1 / });
    await row.getByText("High 7.5").waitFor();
    await row.getByText("fixed").waitFor();
    await page.getByRole("link", { name: "GHSA-2031-1", exact: true }).click();
    await page.getByRole("heading", { name: "GHSA-2031-1", exact: true }).waitFor();
    await page.getByRole("region", { name: "What happened" }).getByText("in 1.3.0").waitFor();
    await page.getByRole("link", { name: "GHSA-2031-2" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("sorts by the head of a column, by mouse and keyboard, and keeps the order in the address", async () => {
    await using console = await openAs("viewer", pathOf());
    const { page, complaints } = console;
    await page.getByText("62 results").waitFor();
    const head = (name: string) => page.getByRole("columnheader", { name });
    assert.equal(await head("Published").getAttribute("aria-sort"), "descending");
    await page.getByRole("button", { name: "Package", exact: true }).click();
    await page.locator("tbody tr").first().getByText("left", { exact: true }).waitFor();
    assert.equal(await head("Package").getAttribute("aria-sort"), "ascending");
    assert.match(page.url(), /order=package/);
    await page.getByRole("button", { name: "Package", exact: true }).press("Enter");
    await page.locator("tbody tr").first().getByText("right", { exact: true }).waitFor();
    assert.equal(await head("Package").getAttribute("aria-sort"), "descending");
    assert.deepEqual(complaints, []);
  });

  it("critical and affected, newest first, is two clicks away", async () => {
    await using console = await openAs("viewer", pathOf());
    const { page, complaints } = console;
    await page.getByRole("button", { name: "High 62", exact: true }).click();
    await page.getByRole("button", { name: "affected 1", exact: true }).click();
    await page.getByText("1 result", { exact: true }).waitFor();
    await page.getByRole("link", { name: "GHSA-2031-2" }).waitFor();
    assert.match(page.url(), /severity=high/);
    assert.deepEqual(complaints, []);
  });

  it("critical and affected, newest first, and the page of one are reached by keyboard alone", async () => {
    await using console = await openAs("viewer", pathOf());
    const { page, complaints } = console;
    await page.getByText("62 results").waitFor();
    /** Moves the focus on to what has the text, and presses Enter. */
    const press = async (text: string) => {
      for (let step = 0; step < 60; step++) {
        await page.keyboard.press("Tab");
        // At the end of the page the focus is nowhere, and then at the beginning again.
        const focused = String(
          await page.evaluate("document.activeElement.matches('a, button') ? document.activeElement.textContent : ''"),
        );
        if (focused.includes(text)) return await page.keyboard.press("Enter");
      }
      assert.fail(`the focus does not reach ${text}`);
    };
    await press("High");
    await page.waitForURL(/severity=high/);
    await press("affected");
    await page.getByText("1 result", { exact: true }).waitFor();
    await press("GHSA-2031-2");
    await page.getByRole("heading", { name: "GHSA-2031-2" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("the page of an advisory shows what its source says, with safe texts and links", async () => {
    await using console = await openAs("viewer", pathOf("?q=left"));
    const { page, complaints } = console;
    await page.getByRole("link", { name: "GHSA-2031-1", exact: true }).click();
    await page.getByRole("heading", { name: hostile }).waitFor();
    await page.locator("strong", { hasText: "too far" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "none" }).count(), 0);
    assert.equal(await page.getByRole("link", { name: "No address of the web" }).count(), 0);
    await page.getByRole("link", { name: "https://example.org/fix/GHSA-2031-1" }).waitFor();
    await page.getByRole("table", { name: "Affected versions" }).getByText("≥ 0 < 1.3.0").waitFor();
    const severity = page.getByRole("region", { name: "Severity" });
    for (const text of ["7.5", "High", "Network", "Availability"])
      await severity.getByText(text, { exact: true }).first().waitFor();
    assert.deepEqual(complaints, []);
  });

  it("opens a link with filters, and shows a stranger nothing", async () => {
    await using console = await openAs("viewer", pathOf("?package=right&q=right"));
    await console.page.getByText("1 result", { exact: true }).waitFor();
    assert.deepEqual(console.complaints, []);
    await using stranger = await openAs("stranger", pathOf());
    await stranger.page.getByText("There is nothing at this address").waitFor();
    assert.deepEqual(stranger.complaints, []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await openAs("owner", pathOf("?q=right"), { width, dark });
        const { page, complaints } = console;
        const link = page.getByRole("link", { name: "GHSA-2031-2" });
        await link.waitFor();
        await page.getByText("Export all advisories").click();
        assert.deepEqual(await findProblems(page), []);
        await link.click();
        await page.getByRole("heading", { name: "GHSA-2031-2" }).waitFor();
        await page.getByRole("link", { name: "GHSA-2031-1", exact: true }).waitFor();
        assert.deepEqual(await findProblems(page), []);
        assert.deepEqual(complaints, []);
      });
});
