// Advisories and their events, written in a real browser.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, findProblems, openConsole, signIn } from "./console.ts";

describe("advisories written in the console", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let uid: string;
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    // Of the built-in roles, only this one may write advisories.
    await bindRole(server, "author", "operator");
    const advisory = { artifactType: "apk", artifactName: "zlib", artifactArchitecture: "x86_64", author: "scanner" };
    const created = await call("POST", "advisories", {
      parentId: server.groupUid,
      advisory: { ...advisory, aliases: ["CVE-2031-7"], advisoryId: "CGA-2222-3333-4444" },
    });
    uid = created.id;
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function call(method: string, path: string, body?: unknown) {
    const response = await rest(server.url, server.ownerToken, method, `/vulnerabilities/v1/${path}`, body);
    assert.equal(response.status, 200, JSON.stringify(response.body));
    return response.body;
  }

  const address = (of = "", search = "") => `/console/o/${server.groupUid}/advisories/${of}${search}`;

  async function open(path: string, as = "author", look: { width?: number; dark?: boolean } = {}) {
    const console = await openConsole(browser, server, { path, ...look });
    await signIn(console.page, as);
    return console;
  }

  const button = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });
  const eventsOf = (page: Page) => page.getByRole("region", { name: "What happened" });
  const headOf = (page: Page) => page.getByRole("heading", { level: 1 }).locator("..");
  const without400 = (complaints: readonly string[]) =>
    complaints.filter((text) => !text.includes("400 (Bad Request)"));

  it("creates an advisory by keyboard, with errors at the field", async () => {
    await using console = await open(address());
    const { page, complaints } = console;
    await page.getByRole("link", { name: "CGA-2222-3333-4444" }).waitFor();
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog");
    await page.locator("[name=aliases]:focus").waitFor();
    await page.keyboard.type("CVE-2031-1, -bad-");
    await dialog.getByLabel("Package", { exact: true }).fill("<b>left</b>");
    await dialog.getByLabel("Package type").fill("apk");
    await dialog.getByLabel("Architecture").fill("x86_64");
    await page.keyboard.press("Control+Enter");
    const aliases = dialog.locator("[name=aliases][aria-invalid=true]");
    await aliases.waitFor();
    assert.deepEqual(await findProblems(page), []);
    await aliases.fill("CVE-2031-1");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: /^CGA(-[0-9a-z]{4}){3}$/ }).waitFor();
    await page.getByText("under review").first().waitFor();
    await page.getByText("<b>left</b>").first().waitFor();
    assert.deepEqual(without400(complaints), []);
  });

  it("adds an event to be reviewed, which changes no status until it is approved", async () => {
    await using console = await open(address(uid));
    const { page, complaints } = console;
    await page.getByRole("button", { name: "Add event" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("not affected").check();
    await dialog.getByLabel("The code is never run").check();
    await dialog.getByLabel("Explanation").fill("<i>only</i> in tests");
    await dialog.getByText("it stays as it is").waitFor();
    assert.deepEqual(await findProblems(page), []);
    await button(page, "Add event").click();
    await dialog.waitFor({ state: "detached" });
    const entry = eventsOf(page).getByRole("listitem").first();
    await entry.getByText("(to be reviewed)").waitFor();
    await entry.getByText("<i>only</i> in tests").waitFor();
    const [event] = (await call("GET", `advisories/${uid}/events`)).items;
    assert.equal(event.falsePositiveDetermination.type, "VULNERABLE_CODE_NOT_IN_EXECUTION_PATH");
    assert.equal(event.status, "PENDING");

    await entry.getByRole("button", { name: "Review event" }).click();
    await dialog.getByText("→").waitFor();
    await dialog.getByLabel("Request changes").check();
    await dialog.getByText("it stays as it is").waitFor();
    await dialog.getByLabel("Approve: final").check();
    assert.deepEqual(await findProblems(page), []);
    await page.route("**/ListAdvisoryEvents", (route) => route.fulfill({ json: {} }), { times: 1 });
    await button(page, "Save review").click();
    await dialog.getByRole("alert").getByText("This event no longer exists").waitFor();
    await button(page, "Save review").click();
    await dialog.waitFor({ state: "detached" });
    await headOf(page).getByText("not affected").waitFor();
    assert.equal(await page.getByRole("button", { name: "Review event" }).count(), 0);
    const [reviewed] = (await call("GET", `advisories/${uid}/events`)).items;
    assert.deepEqual([reviewed.status, reviewed.falsePositiveDetermination.note], ["APPROVED", "<i>only</i> in tests"]);
    assert.deepEqual(complaints, []);
  });

  it("adds an approved event, and says what the advisory says afterwards", async () => {
    await using console = await open(address(uid, "?dialog=event"));
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("fixed", { exact: true }).check();
    await dialog.getByLabel("First version without the vulnerability").fill("1.2.3-r0");
    await dialog.getByLabel("Approved").check();
    await dialog.getByRole("region", { name: "Status of the advisory" }).getByText("→ fixed").waitFor();
    await button(page, "Add event").click();
    await dialog.waitFor({ state: "detached" });
    await headOf(page).getByText("fixed").waitFor();
    await eventsOf(page).getByText("in 1.2.3-r0").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("edits an advisory, and keeps what another person has changed of it", async () => {
    await using console = await open(address(uid, "?dialog=edit"));
    const { page, complaints } = console;
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Component", { exact: true }).fill("inflate");
    const theirs = {
      id: uid,
      artifactType: "apk",
      artifactName: "zlib",
      artifactArchitecture: "arm64",
      author: "theirs",
    };
    await call("PUT", `advisories/${uid}`, { ...theirs, componentName: "deflate", aliases: ["CVE-2031-7"] });
    await button(page, "Save changes").click();
    assert.match((await dialog.getByRole("row", { name: /component_name/ }).textContent()) ?? "", /deflate.*inflate/);
    await button(page, "Save mine").click();
    await dialog.waitFor({ state: "detached" });
    const { body } = await rest(server.url, server.ownerToken, "GET", `/vulnerabilities/v2beta1/advisories/${uid}`);
    assert.deepEqual([body.componentName, body.artifactArchitecture, body.author], ["inflate", "arm64", "theirs"]);
    assert.deepEqual(complaints, []);
  });

  it("deletes an advisory after its id is typed", async () => {
    const advisory = { artifactType: "apk", artifactName: "gone", artifactArchitecture: "x86_64", author: "scanner" };
    const { id, advisoryId } = await call("POST", "advisories", { parentId: server.groupUid, advisory });
    await using console = await open(address(id));
    const { page, complaints } = console;
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No list and no export has it from then on").waitFor();
    assert.ok(await button(page, "Delete advisory").isDisabled());
    await page.getByLabel(`Type ${advisoryId} to confirm`).fill(advisoryId);
    await button(page, "Delete advisory").click();
    await page.getByRole("heading", { name: "Advisories" }).waitFor();
    await page.goto(server.url + address(id));
    await page.getByText("This advisory was withdrawn.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Add event" }).count(), 0);
    assert.deepEqual(complaints, []);
  });

  it("tells an owner and a viewer what is missing, and opens no dialog for them or a stranger", async () => {
    await using owner = await open(address(uid), "owner");
    assert.equal(await owner.page.getByRole("button", { name: "Add event" }).getAttribute("aria-disabled"), "true");
    await using viewer = await open(address(uid), "viewer");
    for (const [name, capability] of [
      ["Add event", "advisories.create"],
      ["Edit", "advisories.update"],
      ["Delete", "advisories.delete"],
    ] as const) {
      const action = viewer.page.getByRole("button", { name, exact: true });
      await action.press("Enter");
      await viewer.page.getByRole("tooltip", { name: new RegExp(capability) }).waitFor();
    }
    for (const dialog of ["event", "edit", "delete"]) {
      await viewer.page.goto(server.url + address(uid, `?dialog=${dialog}`));
      await viewer.page.getByRole("heading", { name: "CGA-2222-3333-4444" }).waitFor();
      assert.equal(await viewer.page.getByRole("dialog").count(), 0);
    }
    await viewer.page.goto(server.url + address("", "?dialog=new"));
    await viewer.page.getByRole("link", { name: "CGA-2222-3333-4444" }).waitFor();
    assert.equal(await viewer.page.getByRole("dialog").count(), 0);
    await using stranger = await open(address("", "?dialog=new"), "stranger");
    await stranger.page.getByText("There is nothing at this address").waitFor();
    assert.equal(await stranger.page.getByRole("dialog").count(), 0);
    assert.deepEqual([...owner.complaints, ...viewer.complaints, ...stranger.complaints], []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await open(address("", "?dialog=new"), "author", { width, dark });
        const { page, complaints } = console;
        for (const path of [address("", "?dialog=new"), address(uid, "?dialog=event"), address(uid, "?dialog=edit")]) {
          await page.goto(server.url + path);
          await page.getByRole("dialog").waitFor();
          assert.deepEqual(await findProblems(page), [], path);
        }
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Add event" }).waitFor();
        assert.deepEqual(await findProblems(page), []);
        assert.deepEqual(complaints, []);
      });
});
