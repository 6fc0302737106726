// All pages, in all forms: axe finds nothing, nothing is blocked or denied, and no page scrolls sideways.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { insertMembership } from "../../src/storage/iam/memberships.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { arrange } from "../security/tree.ts";
import { openChromium } from "./chromium.ts";
import {
  bindRole,
  buildConsole,
  builtInRoleUid,
  complaintsOf,
  createGroup,
  createResource,
  findProblems,
  signIn,
} from "./console.ts";
import { untilQuiet } from "./quiet.ts";
import { viewPaths } from "./views.ts";

/** The forms of a page. At 200 % a window of 1440 pixels has room for 720. */
const forms = [
  ...[1440, 1024, 768, 375].flatMap((width) =>
    (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme, forcedColors: "none" }) as const),
  ),
  { width: 1024, colorScheme: "dark", forcedColors: "active" },
  { width: 720, height: 450, colorScheme: "light", forcedColors: "none" },
] as const;

const advisoryRecord = {
  source: "osv",
  document: "GHSA-2031-1",
  vulnerability: "GHSA-2031-1",
  advisoryId: "GHSA-2031-1",
  format: "RECORD_FORMAT_OSV",
  aliases: ["CVE-2031-1"],
  summary: "Reads beyond the end",
  details: "Reads **too far**. [More](https://example.org/more)",
  modifyTime: "2026-01-02T03:04:05.000Z",
  publishTime: "2026-01-01T03:04:05.000Z",
  references: [{ type: "FIX", url: "https://example.org/fix" }],
  severities: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }],
  statements: [
    {
      product: { purl: "pkg:npm/left", ecosystem: "npm", name: "left" },
      status: "PRODUCT_STATUS_AFFECTED",
      ranges: [{ type: "SEMVER", events: [{ type: "RANGE_EVENT_TYPE_INTRODUCED", version: "0" }] }],
    },
  ],
};

describe("all pages are accessible", { timeout: 570_000, concurrency: true }, () => {
  let browser: Browser;
  let server: TestServer;
  /** The pages of objects, by what they are. */
  const objects: string[] = [];
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    await bindRole(server, "owner", "owner");
    await bindRole(server, "owner", "operator");
    await bindRole(server, "asked", "viewer", true);
    const [web, data] = [
      await createGroup(server, "web", server.groupUid, "What our customers see"),
      await createGroup(server, "data", server.groupUid),
    ];
    const member = personUid("member");
    for (const [group, role] of [
      [web, "registry.pull"],
      [data, "viewer"],
    ] as const)
      await createResource(server, `roleBindings/${group}`, { identityUid: member, roleUid: builtInRoleUid(role) });
    await arrange(server, (tx) => insertMembership(tx, { identityUid: member, groupUid: server.groupUid }));
    await addObjects(web);
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const personUid = (name: string) => userUid(`${server.config.baseUrl}/development/login`, name);

  /** Adds one of what the views list, and notes its page. */
  async function addObjects(group: string): Promise<void> {
    const create = async (path: string, body: object): Promise<string> => {
      const response = await rest(server.url, server.ownerToken, "POST", path, body);
      assert.equal(response.status, 200, JSON.stringify(response.body));
      return response.body.uid;
    };
    const claimMatch = { issuer: "https://ci.example.org", subject: "repo:shop/web:ref:refs/heads/main" };
    await create(`/gatehouse/vulnerabilities/v1/records/${group}:import`, { records: [advisoryRecord] });
    const { body } = await rest(server.url, server.ownerToken, "GET", "/vulnerabilities/v2beta1/advisories");
    objects.push(
      `people/${personUid("member")}`,
      `groups/${group}`,
      `workloads/${await create(`/iam/v2beta1/identities/${group}`, { name: "builds", claimMatch })}`,
      `registry/${await create(`/registry/v2beta1/repos/${group}`, { name: "shop" })}`,
      `events/${await create(`/events/v2beta1/subscriptions/${group}`, { sink: "https://hooks.example.com/gatehouse" })}`,
      `roles/${builtInRoleUid("viewer")}`,
      `advisories/${body.advisories[0].uid}`,
    );
  }

  /** Looks at a page in each form, and returns what is wrong, by form. */
  async function problemsOf(page: Page): Promise<string[]> {
    const found: string[] = [];
    for (const { width, colorScheme, forcedColors, ...rest } of forms) {
      await page.setViewportSize({ width, height: 900, ...rest });
      await page.emulateMedia({ colorScheme, forcedColors, reducedMotion: "reduce" });
      const form = `${width} ${colorScheme}${forcedColors === "active" ? " forced colours" : ""}`;
      found.push(...(await findProblems(page)).map((problem) => `${form}: ${problem}`));
    }
    return found;
  }

  /** Opens the console as a person who is not signed in. */
  async function open(path = "") {
    const context = await browser.newContext({ locale: "en" });
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(server.url + path);
    return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
  }

  for (const name of ["owner", "member"])
    it(`all views are accessible to the ${name === "owner" ? "owner" : "member of two groups"}`, async () => {
      await using opened = await open();
      const { page, complaints } = opened;
      await signIn(page, name);
      await page.getByRole("heading", { name: /Overview/ }).waitFor();
      const wrong: Record<string, string[]> = {};
      const paths = objects.map((path) => `/console/o/${server.groupUid}/${path}`);
      for (const path of [...viewPaths(server.groupUid), ...paths]) {
        await page.goto(server.url + path);
        const heading = page.locator("#content h1").waitFor({ state: "attached", timeout: 10_000 });
        const headless = await heading.then(
          () => [],
          () => ["has no heading"],
        );
        await untilQuiet(page);
        const found = [...headless, ...(await problemsOf(page)), ...complaints.splice(0)];
        if (found.length > 0) wrong[path.replace(server.groupUid, "ORG")] = found;
      }
      assert.deepEqual(wrong, {});
    });

  it("the pages of a sign-in are accessible", async () => {
    const path = `/iam/v2beta1/groupInvites/${server.groupUid}`;
    const invite = { roleUid: builtInRoleUid("viewer"), ttl: "600s" };
    const { code } = (await rest(server.url, server.ownerToken, "POST", path, invite)).body;
    await using opened = await open(`/console/#invite=${code}`);
    const { page, complaints } = opened;
    const wrong: Record<string, string[]> = {};
    const look = async (heading: string | RegExp) => {
      await page.getByRole("heading", { name: heading }).waitFor();
      const found = [...(await problemsOf(page)), ...complaints.splice(0)];
      if (found.length > 0) wrong[String(heading)] = found;
    };
    await look("Sign in");
    await page.getByRole("button", { name: "Sign in" }).click();
    await look("Who are you?");
    await page.getByLabel(/Another person/).fill("guest");
    await page.getByRole("button", { name: "Sign in" }).click();
    await look("Join this organization?");
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("heading", { name: /Overview/ }).waitFor();
    await page.goto(`${server.url}/oauth?redirect=https://evil.example/`);
    await page.getByRole("alert").waitFor();
    wrong.error = await problemsOf(page);
    assert.deepEqual(wrong, { error: [] });
  });
});
