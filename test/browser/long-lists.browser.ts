// Lists of a million rows in the console. The server does not have so many: the rows come from a generator, by page size and skip.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it, type TestContext } from "node:test";
import { create, type DescMessage, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import type { Browser, Page } from "playwright-core";
import { ListGroupsResponseSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ListPeopleResponseSchema } from "../../gen/gatehouse/access/v1/access_pb.ts";
import {
  CountGroupContentsResponseSchema,
  FindGroupPositionResponseSchema,
} from "../../gen/gatehouse/iam/v1/group_tree_pb.ts";
import { SearchIdentitiesResponseSchema } from "../../gen/gatehouse/iam/v1/identities_pb.ts";
import { SearchAdvisoriesResponseSchema } from "../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, findProblems, openConsole, signIn } from "./console.ts";
import { longestTaskMs } from "./main-thread.ts";

/** The most row elements that a list may have. */
const mostElements = 200;

/** The fields of a list request that a generator reads. */
interface ListRequest {
  readonly skip?: number;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly uidp?: { readonly childrenOf?: string };
}

/** Returns the numbers of the rows of a page, and the fields that responses of all lists have. */
function pageOf({ skip = 0, pageSize = 50, pageToken = "" }: ListRequest, total: number) {
  const from = pageToken === "" ? skip : Number(pageToken);
  const to = Math.min(total, from + pageSize);
  const numbers = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
  return { numbers, fields: { totalCount: BigInt(total), skipped: from, nextPageToken: to < total ? String(to) : "" } };
}

/** Responds to a method of the API in place of the server. */
async function respond<M extends DescMessage>(
  page: Page,
  method: string,
  schema: M,
  responseOf: (request: ListRequest) => MessageInitShape<M> | undefined,
): Promise<void> {
  await page.route(`**/${method}`, async (route) => {
    const response = responseOf(route.request().postDataJSON() as ListRequest);
    if (!response) return await route.continue();
    await route.fulfill({ json: toJson(schema, create(schema, response)) as JsonValue });
  });
}

/** Starts to count the row elements of each frame. */
const watch = `(() => {
  window.most = 0;
  const count = () => {
    most = Math.max(most, document.querySelectorAll("tr, [role=treeitem]").length);
    requestAnimationFrame(count);
  };
  count();
})()`;

describe("the lists of the console with very many rows", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer({});
    await bindRole(server, "owner", "owner");
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const segment = (number: number) => number.toString(16).padStart(16, "0");
  const childUid = (number: number) => `${server.groupUid}/${segment(number)}`;
  const rowName = (number: number) => `row ${String(number).padStart(7, "0")}`;

  /** Scrolls by wheel, by the scroll bar and by keys, and returns the most row elements that a frame had. Reports the longest task of the main thread. */
  async function scroll(page: Page, t: TestContext, place: string, total: number): Promise<number> {
    await page.evaluate(watch);
    const longestMs = await longestTaskMs(browser, page, async () => {
      await page.locator(place).hover();
      for (let turn = 0; turn < 60; turn++) await page.mouse.wheel(0, 100 + turn * 40);
      for (const share of [0.25, 0.9, 0.5, 0, 1]) {
        const move = `(() => { const at = document.querySelector(${JSON.stringify(place)}); at.scrollTop = (at.scrollHeight - at.clientHeight) * ${share}; })()`;
        await page.evaluate(move);
        await page.waitForTimeout(300);
      }
      await page
        .getByText(rowName(total - 1))
        .first()
        .waitFor();
    });
    const rows = Number(await page.evaluate("most"));
    t.diagnostic(`${rows} row elements at most; no task of the main thread took more than ${longestMs} ms of CPU`);
    return rows;
  }

  async function openList(path: string, prepare: (page: Page) => Promise<void>) {
    const console = await openConsole(browser, server, { path: "/console/me" });
    await signIn(console.page, "owner");
    await console.page.getByRole("heading", { name: "Me" }).waitFor();
    await prepare(console.page);
    await console.page.goto(`${server.url}/console/o/${server.groupUid}/${path}`);
    return console;
  }

  const workloads = (page: Page, total: number, nameOf = rowName) =>
    respond(page, "SearchIdentities", SearchIdentitiesResponseSchema, (request) => {
      const { numbers, fields } = pageOf(request, total);
      const relationship = {
        case: "claimMatch",
        value: { iss: { case: "issuer", value: "https://issuer.example.org" }, sub: { case: "subject", value: "ci" } },
      } as const;
      return {
        ...fields,
        identities: numbers.map((number) => ({ uid: childUid(number), name: nameOf(number), relationship })),
      };
    });

  it("a million workloads scroll with at most 200 row elements, and the keys reach the first and the last one", async (t) => {
    await using console = await openList("workloads/", (page) => workloads(page, 1_000_000));
    const { page, complaints } = console;
    await page.getByText(rowName(0)).first().waitFor();
    const rows = await scroll(page, t, "div:has(> table)", 1_000_000);
    assert.ok(rows <= mostElements, `${rows} row elements`);
    await page.locator("tr[data-key]").first().focus();
    await page.keyboard.press("End");
    await page.getByText(rowName(999_999)).waitFor();
    assert.equal(await page.evaluate("document.activeElement.ariaRowIndex"), "1000001");
    await page.keyboard.press("Home");
    await page.getByText(rowName(0)).first().waitFor();
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  it("the button that goes back leads to the place where a list of a million rows was left", async () => {
    await using console = await openList("workloads/", (page) => workloads(page, 1_000_000));
    const { page } = console;
    await page.getByText(rowName(0)).first().waitFor();
    await page.locator("tr[data-key]").first().focus();
    await page.keyboard.press("End");
    await page.getByRole("link", { name: rowName(999_999) }).waitFor();
    await page.getByRole("link", { name: "Roles" }).first().click();
    await page.getByRole("heading", { name: "Roles", level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: rowName(999_999) }).waitFor();
  });

  it("100,000 people scroll with at most 200 row elements", async (t) => {
    const personUid = (number: number) => number.toString(16).padStart(40, "0");
    await using console = await openList("people/", (page) =>
      respond(page, "ListPeople", ListPeopleResponseSchema, (request) => {
        const { numbers, fields } = pageOf(request, 100_000);
        const people = numbers.map((number) => ({
          identity: { uid: personUid(number), name: rowName(number), email: `person${number}@example.org` },
          joinTime: { seconds: 1_700_000_000n },
          bindings: [{ roleBindingUid: childUid(number), roleName: "viewer", groupName: "example.org" }],
          bindingCount: 1n,
        }));
        return { ...fields, people };
      }),
    );
    const { page, complaints } = console;
    await page.getByText(rowName(0)).first().waitFor();
    const rows = await scroll(page, t, "div:has(> table)", 100_000);
    assert.ok(rows <= mostElements, `${rows} row elements`);
    assert.deepEqual(complaints, []);
  });

  it("300,000 advisories scroll with at most 200 row elements", async (t) => {
    await using console = await openList("advisories/", (page) =>
      respond(page, "SearchAdvisories", SearchAdvisoriesResponseSchema, (request) => {
        const { numbers, fields } = pageOf(request, 300_000);
        const results = numbers.map((number) => ({
          advisory: { uid: childUid(number), advisoryId: `CVE-2026-${number}`, artifactName: rowName(number) },
          score: (number % 100) / 10,
          publishTime: { seconds: 1_700_000_000n },
        }));
        return { ...fields, results };
      }),
    );
    const { page, complaints } = console;
    await page.getByText(rowName(0)).first().waitFor();
    const rows = await scroll(page, t, "div:has(> table)", 300_000);
    assert.ok(rows <= mostElements, `${rows} row elements`);
    assert.deepEqual(complaints, []);
  });

  it("a group with a million groups scrolls with at most 200 row elements", async (t) => {
    await using console = await openList("groups/", async (page) => {
      await respond(page, "ListGroups", ListGroupsResponseSchema, (request) => {
        if (request.uidp?.childrenOf !== server.groupUid) return undefined;
        const { numbers, fields } = pageOf(request, 1_000_000);
        return { ...fields, groups: numbers.map((number) => ({ uid: childUid(number), name: rowName(number) })) };
      });
      await respond(page, "CountGroupContents", CountGroupContentsResponseSchema, (request) => {
        const { groupUids = [], kinds = [] } = request as { groupUids?: string[]; kinds?: string[] };
        if (kinds.length !== 1) return undefined;
        const counts = (uid: string) => [{ kind: "groups", directCount: uid === server.groupUid ? 1_000_000n : 0n }];
        return { groups: groupUids.map((groupUid) => ({ groupUid, counts: counts(groupUid) })) };
      });
      await respond(page, "FindGroupPosition", FindGroupPositionResponseSchema, () => ({ skip: 123_456 }));
    });
    const { page, complaints } = console;
    await page.getByText(rowName(0)).first().waitFor();
    const rows = await scroll(page, t, '[role="tree"]', 1_000_000);
    assert.ok(rows <= mostElements, `${rows} row elements`);
    assert.deepEqual(complaints, []);
  });

  it("a list of 1,000 rows is saved as CSV in which no cell is a formula", async () => {
    const signs = ["=", "+", "-", "@"];
    const nameOf = (number: number) => `${signs[number % 4]}HYPERLINK("https://example.org";"${number}")`;
    await using console = await openList("workloads/", (page) => workloads(page, 1000, nameOf));
    const { page, complaints } = console;
    await page.getByText(nameOf(0)).waitFor();
    await page.getByRole("button", { name: "Columns" }).click();
    const waiting = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "Save all 1,000 rows as CSV" }).click();
    const rows = parseCsv(readFileSync(await (await waiting).path(), "utf8"));
    assert.equal(rows.length, 1001);
    assert.deepEqual(
      rows.slice(1).map(([name]) => name),
      Array.from({ length: 1000 }, (_, number) => `'${nameOf(number)}`),
    );
    assert.deepEqual(
      rows.flat().filter((cell) => /^[=+\-@\t\r]/.test(cell)),
      [],
    );
    assert.deepEqual(complaints, []);
  });
});

/** Parses a file as RFC 4180 has it. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = "", end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
