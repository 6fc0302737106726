// The registry in the console: repos, tags with their images, history, readmes, pull tokens.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { hourMs } from "../../src/base/clock.ts";
import { storeImageUses, UseKind } from "../../src/storage/registry/image-uses.ts";
import { noteFirstUse } from "../../src/storage/registry/use-coverage.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { basic, service } from "../registry/sign-in.ts";
import { arrange } from "../security/tree.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, findProblems, openConsoleAs } from "./console.ts";

const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
const hostile = "<b>bold</b> ![picture](https://elsewhere.test/x.png) [link](https://elsewhere.test/)";

describe("the registry in the console", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let redis = "";

  async function call(method: string, path: string, body: object): Promise<{ readonly uid: string }> {
    const response = await rest(server.url, server.ownerToken, method, path, body);
    assert.equal(response.status, 200, JSON.stringify(response.body));
    return response.body;
  }

  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer({});
    const platform = await createGroup(server, "platform", server.groupUid);
    const description = "In-memory data store";
    redis = (await call("POST", `/registry/v2beta1/repos/${platform}`, { name: "redis", description })).uid;
    await call("PATCH", `/registry/v2beta1/repos/${redis}/readme`, {
      content: `# Redis\n\n${hostile}\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n`,
    });
    const tags = `/registry/v2beta1/tags/${redis}`;
    await call("POST", tags, { name: "latest", digest: digestOf("a") });
    // The same name again sets the tag.
    await call("POST", tags, { name: "latest", digest: digestOf("b") });
    await call("POST", tags, { name: "6", digest: digestOf("a"), deprecated: true });
    const platforms = (size: number) => [
      { architecture: "amd64", size },
      { architecture: "arm64", size: size - 2_000_000 },
    ];
    await call("POST", `/gatehouse/registry/v1/images/${redis}`, {
      images: [
        { digest: digestOf("a"), platforms: platforms(41_000_000) },
        { digest: digestOf("b"), platforms: platforms(43_000_000) },
      ],
    });
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    const hour = Math.floor(Date.now() / hourMs);
    const use = {
      repoUid: redis,
      digest: digestOf("b"),
      tag: "latest",
      hour,
      actor: server.ownerUid,
      kind: UseKind.pull,
    };
    await arrange(server, async (tx) => {
      await storeImageUses(tx, [
        { ...use, hour: hour - 30, count: 12 },
        { ...use, kind: UseKind.check, count: 3 },
        { ...use, tag: "", hour: hour - 50, actor: "user:robot$ci", count: 1200 },
      ]);
      await noteFirstUse(tx, "distribution");
    });
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const pathOf = (uid = "", search = "") => `/console/o/${server.groupUid}/registry/${uid}${search}`;

  const openAs = (name: string, path: string, options: { readonly width?: number; readonly dark?: boolean } = {}) =>
    openConsoleAs(browser, server, name, { path, ...options });

  it("lists repos, finds one by a part of its name, and opens it", async () => {
    await using console = await openAs("owner", pathOf());
    const { page, complaints } = console;
    await page.getByRole("searchbox").fill("edi");
    await page.getByRole("link", { name: "redis" }).click();
    await page.getByRole("heading", { name: "redis", exact: true }).waitFor();
    await page
      .getByText(`docker pull ${service}/${server.groupUid}/platform/redis`, { exact: false })
      .first()
      .waitFor();
    const row = page.getByRole("row", { name: /latest/ });
    await row.getByText("43 MB").waitFor();
    await page.getByText("ended: gets no updates").waitFor();
    const who = page.getByRole("region", { name: "Who may pull and push" }).getByRole("listitem");
    await who
      .filter({ hasText: /^.{1,2}owner\s*pull\s*push$/ })
      .first()
      .waitFor();
    // The viewer has not signed in yet.
    await who.filter({ hasText: /^\?Not joined yet.*pull$/ }).waitFor();
    const [pull, tags] = [
      page.getByRole("region", { name: "Pull", exact: true }),
      page.getByRole("region", { name: "Tags" }),
    ];
    await pull.getByText(/is the uid of the organization\. Its name takes its place once an operator/).waitFor();
    const [above, below] = [await pull.boundingBox(), await tags.boundingBox()];
    assert.ok(above && below && above.y < below.y, "the pull command comes first");
    assert.deepEqual(complaints, []);
  });

  it("shows a readme without its HTML, with pictures as links", async () => {
    await using console = await openAs("viewer", pathOf(redis));
    const { page, complaints } = console;
    await page.getByText("<b>bold</b>").waitFor();
    assert.equal(
      await page.getByRole("link", { name: "Picture: picture" }).getAttribute("href"),
      "https://elsewhere.test/x.png",
    );
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(complaints, []);
  });

  it("shows who used images, and when tags were used last", async () => {
    await using console = await openAs("owner", pathOf(redis));
    const { page, complaints } = console;
    const tags = page.getByRole("region", { name: "Tags" });
    await tags
      .getByRole("row", { name: /latest/ })
      .getByText("check", { exact: true })
      .waitFor();
    await tags
      .getByRole("row", { name: /ended: gets no updates/ })
      .getByText("never", { exact: true })
      .waitFor();
    const uses = page.getByRole("region", { name: "Uses" });
    await uses.getByText(/^All uses are known since/).waitFor();
    const rows = uses.getByRole("row");
    assert.equal(await rows.count(), 4);
    await uses.getByRole("row", { name: /^robot\$ci pull .*bbbbbb…bbbb/ }).waitFor();
    await uses.getByRole("link", { name: "owner" }).first().waitFor();
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  it("compares two digests of a tag", async () => {
    await using console = await openAs("viewer", pathOf(redis));
    const { page, complaints } = console;
    await page.getByRole("button", { name: "latest", exact: true }).click();
    const panel = page.getByRole("dialog");
    for (const letter of ["a", "b"])
      await panel.getByRole("checkbox", { name: `Compare ${letter.repeat(6)}…${letter.repeat(4)}` }).check();
    await panel.getByRole("row", { name: /amd64.*\+2 MB/ }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);
  });

  it("makes a pull token with which a registry client signs in, and sends its key nowhere", async () => {
    await using console = await openAs("owner", pathOf(redis));
    const { page, complaints } = console;
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.postData() ?? ""));
    await page.getByRole("button", { name: "New pull token" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("build machine");
    await dialog.getByRole("button", { name: "Make pull token" }).click();
    const token = await dialog.locator("code").first().innerText();
    assert.deepEqual(await findProblems(page), []);
    const command = await dialog.locator("pre").innerText();
    const [, user = ""] = /-u (\S+)/.exec(command) ?? [];
    const [, name = ""] = /docker pull [^/]+\/(\S+):latest/.exec(command) ?? [];
    const query = `service=${service}&scope=repository:${name}:pull`;
    const response = await fetch(`${server.url}/token?${query}`, { headers: basic(user, token) });
    const { scope } = (await response.json()) as { readonly scope: string };
    assert.equal(scope, `repository:${name}:pull`);
    assert.ok(sent.every((body) => !body.includes(token)));
    assert.ok(sent.every((body) => !/"d":|"p":/.test(body)));
    assert.deepEqual(complaints, []);
  });

  it("creates, edits and deletes a repo by keyboard", async () => {
    await using console = await openAs("owner", pathOf());
    const { page, complaints } = console;
    await page.getByRole("heading", { name: "Registry" }).waitFor();
    await page.getByRole("link", { name: "redis" }).waitFor();
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Nginx!");
    await page.keyboard.press("Control+Enter");
    await dialog.locator("[aria-invalid=true]").waitFor();
    await dialog.getByLabel("Name").fill("nginx");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "nginx" }).waitFor();
    await page.keyboard.press("e");
    await dialog.getByLabel("Description").fill("Web server");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Web server").waitFor();
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("Delete");
    await dialog.getByLabel(/Type nginx/).fill("nginx");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "Registry" }).waitFor();
    await page.getByRole("link", { name: "nginx" }).waitFor({ state: "detached" });
    // The rejected name: Chromium logs each response with 400.
    const others = complaints.filter((line) => !line.includes("400"));
    assert.deepEqual(others, []);
  });

  it("edits a readme", async () => {
    await bindRole(server, "owner", "operator").catch(() => {});
    await using console = await openAs("owner", pathOf(redis));
    const { page } = console;
    const button = page.getByRole("button", { name: "Edit readme" });
    await button.waitFor();
    if ((await button.getAttribute("aria-disabled")) === "true") return;
    await button.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Markdown").fill("# New text");
    await dialog.getByRole("button", { name: "Save readme" }).click();
    await page.getByRole("heading", { name: "New text" }).waitFor();
  });

  it("tells a viewer what is missing, and makes no denied calls for a stranger", async () => {
    await using viewer = await openAs("viewer", pathOf(redis));
    await viewer.page.getByRole("row", { name: /^Select latest/ }).waitFor();
    assert.equal(
      await viewer.page.getByRole("button", { name: "Delete", exact: true }).getAttribute("aria-disabled"),
      "true",
    );
    assert.deepEqual(viewer.complaints, []);
    await using stranger = await openAs("stranger", pathOf(redis));
    await stranger.page.getByText("There is nothing at this address").waitFor();
    assert.deepEqual(stranger.complaints, []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await openAs("owner", pathOf(), { width, dark });
        const { page, complaints } = console;
        const check = async (at: string) => assert.deepEqual(await findProblems(page), [], at);
        await page.getByRole("link", { name: "redis" }).waitFor();
        await check("list");
        await page.getByRole("link", { name: "redis" }).click();
        await page.getByText("43 MB").first().waitFor();
        await check("repo");
        for (const dialog of ["new", "edit", "readme", "delete", "pull-token"]) await checkDialog(page, dialog, check);
        assert.deepEqual(complaints, []);
      });

  async function checkDialog(page: Page, dialog: string, check: (at: string) => Promise<void>): Promise<void> {
    await page.goto(server.url + pathOf(redis, `?dialog=${dialog}`));
    await page.getByRole("heading", { name: "redis", exact: true }).waitFor();
    if (dialog !== "readme") await page.getByRole("dialog").waitFor();
    await check(dialog);
  }
});
