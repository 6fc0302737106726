// The API reference and the guides in a real browser: search, deep links, calls as code, accessibility, signed out and in.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, findProblems, openConsole } from "./console.ts";

const groups = "chainguard.platform.iam.v2beta1.GroupsService";

describe("the API reference", { timeout: 300_000 }, () => {
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

  it("lists the services, and finds methods by path and fields by name", async () => {
    await using reference = await openConsole(browser, server, { path: "/docs/api" });
    const { page, complaints } = reference;
    await page.getByRole("heading", { name: "API reference" }).waitFor();
    const search = page.getByLabel("Search the API");
    await search.fill("POST roleBindings");
    await page.getByRole("link", { name: /^CreateRoleBinding(?!Term)/ }).waitFor();
    await search.fill("othersRetire nothing");
    await page.getByText("Nothing has all words of “othersRetire nothing”.").waitFor();
    await search.fill("next_page_token ListGroups");
    await page.getByRole("link", { name: /^ListGroupsResponse/ }).click();
    await page.getByRole("heading", { name: "ListGroupsResponse" }).waitFor();
    await page
      .getByRole("link", { name: /Group$/ })
      .first()
      .click();
    await page.getByRole("heading", { name: "Group", exact: true }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "ListGroupsResponse" }).waitFor();
    await page.goto(`${server.url}/docs/api/no.such.Service`);
    await page.getByText(/no service, method or type called no.such.Service/).waitFor();
    await page.getByLabel("Version").selectOption("v1");
    await page.getByRole("navigation").getByRole("link", { name: "Groups", exact: true }).click();
    await page.getByRole("link", { name: "List", exact: true }).first().waitFor();
    assert.deepEqual(complaints, []);
  });

  it("services are listed by domain, and words find what the API calls otherwise, by keyboard alone", async () => {
    await using reference = await openConsole(browser, server, { path: "/docs/api", width: 375 });
    const { page, complaints } = reference;
    await page.getByRole("heading", { name: "API reference" }).waitFor();
    await page.keyboard.press("/");
    await page.locator("input[type=search]:focus").waitFor();
    const domains = await page.getByRole("navigation").getByRole("heading", { level: 2 }).allTextContents();
    assert.deepEqual(domains.slice(0, 4), ["People, groups and roles", "Access and search", "Registry", "Advisories"]);
    await page.keyboard.type("who can delete a repo");
    const links = page.getByRole("navigation").getByRole("link");
    await links.filter({ hasText: "WhoCan" }).waitFor();
    assert.match((await links.first().textContent()) ?? "", /^DeleteRepo/);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.deepEqual(await findProblems(page), []);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "WhoCan" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "DeleteRepo" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    await page.getByRole("navigation").getByRole("heading", { name: "Registry" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("shows what a method needs, its fields with their rules, its errors, and its call as code", async () => {
    await using reference = await openConsole(browser, server, { path: `/docs/api/${groups}/CreateGroup` });
    const { page, complaints } = reference;
    await page.getByRole("heading", { name: "CreateGroup" }).waitFor();
    await page.getByText("groups.create").waitFor();
    await page.getByRole("heading", { name: "Errors" }).waitFor();
    await page.getByText("must match").first().waitFor();
    await page.getByRole("textbox", { name: /^parent/ }).fill("0123/45");
    const call = page.getByRole("region", { name: "Call it" }).locator("pre").first();
    assert.match((await call.textContent()) ?? "", /-X POST '.*\/iam\/v2beta1\/groups\/0123\/45'/);
    await page.getByRole("button", { name: "grpcurl", exact: true }).click();
    assert.match(
      (await call.textContent()) ?? "",
      /grpcurl -plaintext[\s\S]*"parent": "0123\/45"[\s\S]*GroupsService\/CreateGroup/,
    );
    await page.getByRole("button", { name: "Go", exact: true }).click();
    assert.match((await call.textContent()) ?? "", /CreateGroup\(ctx, &iamv2beta1\.CreateGroupRequest\{/);
    await page.getByRole("button", { name: "Python", exact: true }).click();
    assert.match((await call.textContent()) ?? "", /requests\.post\(/);
    await page.getByRole("button", { name: "TypeScript", exact: true }).click();
    assert.match((await call.textContent()) ?? "", /service\(GroupsService\)\.createGroup\(\{/);
    await page.reload();
    await page.getByRole("button", { name: "TypeScript", exact: true, pressed: true }).waitFor();
    await page.getByRole("textbox", { name: /^parent/ }).fill("0123/45");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    assert.match((await call.textContent()) ?? "", new RegExp(`-X POST '.*/${groups}/CreateGroup'[\\s\\S]*"parent"`));
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await page.getByRole("textbox", { name: "Body" }).fill("{");
    await page.getByText(/The request is not valid/).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("the page of a method is copied as Markdown: description, routes, fields as tables, examples and code", async () => {
    await using reference = await openConsole(browser, server, { path: `/docs/api/${groups}/CreateGroup` });
    const { page, complaints } = reference;
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy as Markdown" }).click();
    await page.getByText("✓ Copied").waitFor();
    const text = String(await page.evaluate("navigator.clipboard.readText()"));
    assert.match(text, /^# CreateGroup\n\n/);
    assert.match(text, /^- `POST \/iam\/v2beta1\/groups\/\{parent=\*\*\}`$/m);
    assert.match(
      text,
      /^### In the path\n\n\| Field \| Type \| {2}\| Description \|\n\| --- \|.*\n\| `parent` \| string \| required \|/m,
    );
    assert.match(text, /^## Example of a request\n\n```json\n\{\n {2}"name":/m);
    assert.match(text, /^## Example of a response\n\n```json\n/m);
    assert.match(text, /^## curl\n\n```sh\ncurl -X POST '.*\/iam\/v2beta1\/groups\/[^{]+'/m);
    assert.deepEqual(complaints, []);
  });

  it("sends calls with the token of the session, and asks first for those that change something", async () => {
    await using reference = await openConsole(browser, server, { path: `/docs/api/${groups}/CreateGroup` });
    const { page, complaints } = reference;
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "owner", exact: true }).click();
    await page.getByRole("heading", { name: "CreateGroup" }).waitFor();
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await page.getByRole("textbox", { name: "Body" }).fill('{ "name": "made-here" }');
    await page.getByRole("button", { name: "Send call" }).click();
    await page.getByText("Not sent: one value has to change").waitFor();
    await page.getByRole("combobox", { name: /^parent/ }).fill(server.groupUid);
    await page.getByRole("option", { name: "example.org" }).click();
    await page.getByRole("button", { name: "Send call" }).click();
    const dialog = page.getByRole("dialog", { name: "Send this call?" });
    await dialog.getByText(/made-here/).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    assert.equal(await page.getByRole("region", { name: "Response" }).count(), 1);
    await page.getByRole("button", { name: "Send call" }).click();
    await dialog.getByRole("button", { name: "Send call" }).click();
    await page.getByText("✓ 200").waitFor();
    await page.goto(`${server.url}/docs/api/${groups}/ListGroups`);
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByRole("button", { name: "Send call" }).click();
    await page.getByText("✓ 200").waitFor();
    await page.getByText(/"made-here"/).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("a body is edited as a form or as JSON, and what is wrong is shown at its field before the call is sent", async () => {
    const path = `/docs/api/chainguard.platform.iam.v2beta1.IdentitiesService/CreateIdentity`;
    await using reference = await openConsole(browser, server, { path });
    const { page, complaints } = reference;
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "owner", exact: true }).click();
    await page.getByRole("combobox", { name: /^parent/ }).fill(server.groupUid);
    await page.getByRole("option", { name: "example.org" }).click();
    const name = page.getByRole("textbox", { name: "name required" });
    await name.fill("Not a name!");
    const form = page.getByRole("region", { name: "Call it" });
    await form.getByText("must match ^[a-z0-9 ._-]{1,}$").waitFor();
    assert.equal(await name.getAttribute("aria-invalid"), "true");
    await page.getByRole("button", { name: "Send call" }).click();
    await page.getByText("Not sent: one value has to change").waitFor();
    await form.locator("input:focus").and(name).waitFor();
    await name.fill("from a form");
    await page.getByLabel("One of these").selectOption("claimMatch");
    const match = page.getByRole("group", { name: "claimMatch" });
    for (const field of ["issuer", "subject"])
      await match
        .getByRole("combobox")
        .filter({ has: page.locator(`option:text-is("${field}")`) })
        .selectOption(field);
    await match.getByRole("textbox", { name: /^issuer\b/ }).fill("https://issuer.example.org");
    await match.getByRole("textbox", { name: /^subject\b/ }).fill("someone");
    await match.getByRole("button", { name: "Add claims" }).click();
    // The new entry has the focus.
    await page.keyboard.type("ref");
    await match.getByRole("textbox", { name: "Value" }).fill("main");
    assert.deepEqual(await findProblems(page), []);
    const switchTo = (view: string) => page.getByRole("button", { name: view, exact: true }).click();
    await switchTo("JSON");
    const json = page.getByRole("textbox", { name: "Body" });
    const body = JSON.parse(await json.inputValue());
    assert.deepEqual(body.claimMatch.claims, { ref: "main" });
    await json.fill(JSON.stringify({ ...body, description: "typed as JSON", noSuch: 1 }));
    await page.getByText("noSuch: is not a field of this method").waitFor();
    await switchTo("Form");
    await page.getByText("The form has no such field.").waitFor();
    await page.getByRole("button", { name: "Edit as JSON" }).click();
    await json.fill(JSON.stringify({ ...body, description: "typed as JSON" }));
    await switchTo("Form");
    assert.equal(await page.getByRole("textbox", { name: "description" }).inputValue(), "typed as JSON");
    await page.getByRole("button", { name: "Send call" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send call" }).click();
    await page.getByText("✓ 200").waitFor();
    await page
      .getByRole("region", { name: "Response" })
      .getByText(/"subject": "someone"/)
      .waitFor();
    assert.deepEqual(complaints, []);
  });

  for (const width of [1280, 375])
    for (const dark of [false, true])
      it(`has no problem that axe-core finds at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using reference = await openConsole(browser, server, { path: "/docs/api", width, dark });
        const { page, complaints } = reference;
        await page.getByRole("heading", { name: "API reference" }).waitFor();
        assert.deepEqual(await findProblems(page), []);
        if (width < 768) await page.getByRole("button", { name: "Services" }).click();
        await page.getByLabel("Search the API").fill("Subscription");
        await page
          .getByRole("link", { name: /^CreateSubscription/ })
          .first()
          .waitFor();
        assert.deepEqual(await findProblems(page), []);
        await page.goto(`${server.url}/docs/api/${groups}/UpdateGroup`);
        await page.getByRole("heading", { name: "Errors" }).waitFor();
        for (const summary of await page.locator("summary").all()) await summary.click();
        assert.deepEqual(await findProblems(page), []);
        await page.goto(`${server.url}/docs/api/chainguard.capabilities.Capability`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        assert.deepEqual(await findProblems(page), []);
        for (const guide of ["", "console", "reference/settings", "decisions/0071-console"]) {
          await page.goto(`${server.url}/docs/${guide}`);
          await page.getByRole("heading", { level: 1 }).waitFor();
          assert.deepEqual(await findProblems(page), [], guide);
        }
        assert.deepEqual(complaints, []);
      });
});

describe("the guides", { timeout: 120_000 }, () => {
  it("the guides are searched by words: results lead to the section, by mouse and by keyboard", async () => {
    buildConsole();
    await using browser = await openChromium();
    await using server = await startTestServer({});
    await using guides = await openConsole(browser, server, { path: "/docs/" });
    const { page, complaints } = guides;
    await page.keyboard.press("/");
    await page.keyboard.type("rotate signing keys");
    const result = page.getByRole("link", { name: /^Rotate signing keys – Monitor/ });
    await result.waitFor();
    // The results cover parts of links below them until they are closed.
    assert.deepEqual(await findProblems(page, ".guide-search"), []);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/operate/monitor#rotate-signing-keys");
    const search = page.getByLabel("Search the guides");
    await search.fill("nosuchwordanywhere");
    await page.getByText("No guide has “nosuchwordanywhere”.").waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.getByText("No guide has").isVisible(), false);
    assert.deepEqual(complaints, []);
  });

  it("lead from one to the other, show pictures, and have only links that lead somewhere", async () => {
    buildConsole();
    await using server = await startTestServer({});
    const seen = new Set<string>();
    const open = ["/docs/"];
    const broken: string[] = [];
    for (const path of open) {
      const response = await fetch(server.url + path);
      const body = response.headers.get("content-type")?.startsWith("text/html") ? await response.text() : "";
      if (response.status !== 200) broken.push(path);
      for (const [, target] of body.matchAll(/(?:href|src)="(\/[^"#]*)/g)) {
        if (seen.has(target!)) continue;
        seen.add(target!);
        open.push(target!);
      }
    }
    assert.deepEqual(broken, []);
    assert.ok(seen.has("/docs/operate/deploy") && seen.has("/docs/images/console/me-wide-light.png"));
  });
});
