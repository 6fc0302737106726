// The wizard that lets a workload in: what it gives to copy runs in a bare shell, for each kind of issuer, with one role at one group.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { parse } from "yaml";
import { startWorkloadIssuer, type WorkloadIssuer } from "../documentation/workload-issuer.ts";
import { type BareShell, newBareShell } from "../harness/bare-shell.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, createGroup, findProblems, openConsole, signIn } from "./console.ts";
import { untilQuiet } from "./quiet.ts";

/** A kind of workload: what is typed, and where its script and its token are. */
interface Kind {
  readonly provider: string;
  /** The name of the tokens in test/sts/workload-shapes.ts. */
  readonly shape: string;
  readonly fields: Readonly<Record<string, string>>;
  /** The label of the field of the issuer; absent if it cannot be chosen. */
  readonly issuerField?: string;
  readonly task: string;
  readonly role: string;
  /** Returns the script in what the wizard gives to copy. */
  readonly scriptOf: (text: string) => string;
  /** Puts the workload's own token where its runner has it, and returns the variables of its shell. */
  readonly prepare?: (shell: BareShell, token: string, issuer: WorkloadIssuer) => Readonly<Record<string, string>>;
}

const kinds: readonly Kind[] = [
  {
    provider: "GitHub Actions",
    shape: "GitHub Actions",
    fields: { "Owner and repository": "acme/app", Branch: "main" },
    task: "Push images",
    role: "registry.push",
    scriptOf: (text) => parse(text).jobs.deploy.steps[0].run,
    prepare: (_shell, _token, { issuer }) => ({
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "runner",
      ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer}/runner?api-version=2.0`,
    }),
  },
  {
    provider: "GitLab CI",
    shape: "GitLab",
    fields: { "Path of the project": "acme/app", Branch: "main" },
    issuerField: "Address of GitLab",
    task: "Pull images",
    role: "registry.pull",
    scriptOf: (text) => parse(text).deploy.script[0],
    prepare: (_shell, token) => ({ GATEHOUSE_ID_TOKEN: token }),
  },
  {
    provider: "Kubernetes",
    shape: "Kubernetes at oidc.eks.eu-west-1.amazonaws.com",
    fields: { Namespace: "ns", "Service account": "deployer" },
    issuerField: "Issuer of the cluster",
    task: "Pull images",
    role: "registry.pull",
    // The folder that a pod mounts is the working folder here.
    scriptOf: (text) => parse(text).containers[0].args[0].replace("/var/run/gatehouse/", ""),
  },
  {
    provider: "Another OIDC issuer",
    shape: "Jenkins",
    fields: { "Subject that your tokens name": "https://ci.acme.example/job/app/" },
    issuerField: "Issuer that your tokens name",
    task: "Read everything there",
    role: "viewer",
    scriptOf: (text) => text,
  },
];

describe("the wizard that lets a workload in", { timeout: 300_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let group = "";
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer();
    group = await createGroup(server, "engineering", server.groupUid);
    await bindRole(server, "owner", "owner");
    const repo = { name: "hello" };
    await rest(server.url, server.ownerToken, "POST", `/registry/v2beta1/repos/${group}`, repo);
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const address = () => `/console/o/${server.groupUid}/workloads/`;
  const dialogOf = (page: Page) => page.getByRole("dialog");

  async function chooseGroup(dialog: Locator): Promise<void> {
    await dialog.getByRole("combobox", { name: "Group" }).fill("engin");
    await dialog.getByRole("option", { name: /engineering/ }).click();
  }

  /** Opens the wizard, and fills its second step. */
  async function describeWorkload(page: Page, kind: Kind, name: string, issuer: string): Promise<Locator> {
    const dialog = dialogOf(page);
    await page.getByRole("button", { name: "New identity" }).click();
    await dialog.getByRole("button", { name: kind.provider }).click();
    await dialog.getByLabel("Name", { exact: true }).fill(name);
    const typed = { ...kind.fields, ...(kind.issuerField !== undefined && { [kind.issuerField]: issuer }) };
    for (const [label, value] of Object.entries(typed)) await dialog.getByLabel(label, { exact: true }).fill(value);
    await chooseGroup(dialog);
    return dialog;
  }

  async function identityNamed(name: string) {
    const path = `/iam/v2beta1/identities?name=${name}&uidp.descendantsOf=${group}`;
    return (await rest(server.url, server.ownerToken, "GET", path)).body.identities[0];
  }

  async function bindingsOf(uid: string) {
    const path = `/iam/v2beta1/roleBindings?identity=${encodeURIComponent(uid)}`;
    return (await rest(server.url, server.ownerToken, "GET", path)).body.roleBindings ?? [];
  }

  for (const kind of kinds)
    it(`what it gives to copy for ${kind.provider} runs with curl alone, and the identity has one role at one group`, async () => {
      await using issuer = await startWorkloadIssuer(kind.shape);
      using shell = newBareShell();
      await using console = await openConsole(browser, server, { path: address() });
      const { page, complaints } = console;
      await signIn(page, "owner");
      const name = kind.provider.toLowerCase().replaceAll(" ", "-");
      const dialog = await describeWorkload(page, kind, name, issuer.issuer);
      await dialog.getByRole("button", { name: "Create identity" }).click();
      await dialog.getByRole("radio", { name: kind.task }).check();
      await dialog.getByText("groups.list").first().waitFor();
      await dialog.getByRole("button", { name: "Grant role" }).click();
      await dialog.getByText("Waiting for the first exchange").waitFor();
      const text = (await dialog.getByRole("region", { name: "configuration" }).textContent()) ?? "";
      const identity = await identityNamed(name);
      // The issuer of GitHub cannot be chosen: the one of this test takes its place.
      if (kind.issuerField === undefined) {
        const claimMatch = { ...identity.claimMatch, issuer: issuer.issuer };
        const path = `/iam/v2beta1/identities/${identity.uid}?updateMask=claim_match`;
        assert.equal((await rest(server.url, server.ownerToken, "PATCH", path, { claimMatch })).status, 200);
      }
      const token = await issuer.issue(server.url);
      writeFileSync(path.join(shell.folder, "id-token"), token);
      const variables = kind.prepare?.(shell, token, issuer) ?? {};
      const found = JSON.parse(await shell.run(kind.scriptOf(text), variables));
      assert.deepEqual(
        (found.repos ?? found.groups).map((one: { readonly name: string }) => one.name),
        [kind.role === "viewer" ? "engineering" : "hello"],
      );
      const bindings = await bindingsOf(identity.uid);
      assert.deepEqual(
        bindings.map((one: { readonly role: { readonly name: string }; readonly group: { readonly uid: string } }) => [
          one.role.name,
          one.group.uid,
        ]),
        [[kind.role, group]],
      );
      await dialog.getByText("It has exchanged its first token.").waitFor();
      if (kind.role !== "viewer") await dialog.getByText("docker login").waitFor();
      assert.deepEqual(await findProblems(page), []);
      await dialog.getByRole("button", { name: "Done" }).click();
      await page.getByRole("heading", { name }).waitFor();
      assert.deepEqual(complaints, []);
    });

  it("asks for a branch unless any will do, keeps what was typed over a reload, and offers no role at the organization", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const [github] = kinds;
    const dialog = await describeWorkload(page, github!, "drafted", "");
    const branch = dialog.getByLabel("Branch", { exact: true });
    await branch.fill("");
    await page.reload();
    await dialog.getByText("What you typed here before is back.").waitFor();
    assert.equal(await dialog.getByLabel("Owner and repository").inputValue(), "acme/app");
    assert.equal(await dialog.getByRole("combobox", { name: "Group" }).inputValue(), "engineering");
    await dialog.getByRole("button", { name: "Create identity" }).click();
    await dialog.getByText("Name a branch, or choose “Any branch or tag”.").waitFor();
    await branch.and(page.locator(":focus")).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByLabel("Any branch or tag").check();
    await dialog.getByText(":ref:refs/(heads|tags)/.*/").waitFor();
    await dialog.getByRole("combobox", { name: "Group" }).fill(server.groupUid);
    await dialog.getByRole("option", { name: "example.org" }).click();
    await dialog.getByRole("button", { name: "Create identity" }).click();
    await dialog.getByRole("radio", { name: "Pull images" }).waitFor();
    assert.equal(await dialog.getByRole("combobox", { name: "Group" }).inputValue(), "");
    assert.ok(await dialog.getByRole("button", { name: "Grant role" }).isDisabled());
    assert.deepEqual(await findProblems(page), []);
    assert.deepEqual(complaints, []);
  });

  it("a reload comes back to the role and to what is to be copied, and a link from elsewhere leads to the page of the identity", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const dialog = await describeWorkload(page, kinds[0]!, "reloaded", "");
    await dialog.getByLabel("Environment; empty for none").fill("production");
    await dialog.getByRole("button", { name: "Create identity" }).click();
    await dialog.getByRole("radio", { name: "Push images" }).check();
    const { uid } = await identityNamed("reloaded");
    await page.reload();
    await dialog.getByRole("radio", { name: "Push images", checked: true }).waitFor();
    await dialog.getByText("groups.list").first().waitFor();
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Grant role" }).click();
    const configuration = dialog.getByRole("region", { name: "configuration" });
    // The host of the registry is read apart, and then stands in both.
    await dialog.getByText("docker login").waitFor();
    const text = await configuration.textContent();
    assert.match(text ?? "", /environment: production/);
    await page.reload();
    await dialog.getByText("docker login").waitFor();
    assert.equal(await configuration.textContent(), text);
    assert.deepEqual(await findProblems(page), []);
    const link = page.url();
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("heading", { name: "reloaded" }).waitFor();
    assert.doesNotMatch(String(await page.evaluate("JSON.stringify(sessionStorage)")), /reloaded|acme/);
    await page.goto(link);
    await page.getByRole("heading", { name: "reloaded" }).waitFor();
    assert.equal(await dialog.count(), 0);
    assert.ok(page.url().includes(uid));
    await page.goto(server.url + address());
    await page.getByRole("button", { name: "New identity" }).click();
    await dialog.getByRole("button", { name: "Kubernetes" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("deletes the identity with its role by Undo and one confirmation", async () => {
    await using console = await openConsole(browser, server, { path: address() });
    const { page, complaints } = console;
    await signIn(page, "owner");
    const dialog = await describeWorkload(page, kinds[0]!, "undone", "");
    await dialog.getByRole("button", { name: "Create identity" }).click();
    await dialog.getByText("groups.list").first().waitFor();
    await dialog.getByRole("button", { name: "Grant role" }).click();
    await dialog.getByRole("button", { name: "Undo" }).click();
    const { uid } = await identityNamed("undone");
    assert.equal((await bindingsOf(uid)).length, 1);
    assert.deepEqual(await findProblems(page), []);
    await dialog.getByRole("button", { name: "Delete identity" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal(await identityNamed("undone"), undefined);
    assert.deepEqual(await bindingsOf(uid), []);
    await untilQuiet(page);
    assert.deepEqual(complaints, []);
  });
});
