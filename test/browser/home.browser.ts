// The overview of a member of two groups, in a real browser: where they are, what they hold, and a command that really pulls.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { homeEnvironment } from "../cli/caller.ts";
import { start } from "../cli/process.ts";
import { findMissing, type Installation, service, startInstallation } from "../registry/end-to-end/installation.ts";
import { writeLayout } from "../registry/end-to-end/oci-layout.ts";
import { openChromium } from "./chromium.ts";
import { buildConsole, builtInRoleUid, complaintsOf, findProblems, signIn } from "./console.ts";

describe("the overview of a member of two groups", { timeout: 300_000 }, () => {
  let browser: Browser;
  let place: Installation;
  let digest = "";
  const groups: Record<string, string> = {};

  before(async () => {
    assert.deepEqual(findMissing(), [], "programs of Debian that are missing");
    buildConsole();
    browser = await openChromium();
    place = await startInstallation();
    for (const [name, parent] of [
      ["web", place.group],
      ["data", place.group],
      ["shop", "web"],
    ] as const)
      groups[name] = await create(`groups/${groups[parent] ?? parent}`, { name });
    // The image has no tag `latest`.
    const layout = writeLayout(path.join(place.folder, "app"), ["amd64"], "app");
    ({ digest } = layout);
    const credentials = ["--dest-tls-verify=false", "--dest-creds", `_token:${place.registryToken()}`];
    const target = `docker://${place.registry}/web/app:1.4`;
    const { code, stderr } = place.skopeo("copy", "--all", ...credentials, `oci:${layout.folder}`, target);
    assert.equal(code, 0, stderr);
    await create(`identities/${groups.data}`, {
      name: "nightly",
      claimMatch: { issuer: "https://ci.example.org", subject: "nightly" },
    });
    for (const [group, role] of [
      ["web", "registry.pull"],
      ["data", "viewer"],
    ] as const)
      await create(`roleBindings/${groups[group]}`, { identityUid: uidOf("member"), roleUid: builtInRoleUid(role) });
  });
  after(async () => {
    await browser?.close();
    await place?.[Symbol.asyncDispose]();
  });

  const uidOf = (name: string) => userUid(`${place.url}/development/login`, name);
  const create = async (target: string, body: object): Promise<string> =>
    (await place.call("POST", `/iam/v2beta1/${target}`, body)).uid;
  const part = (page: Page, name: string) => page.getByRole("region", { name });

  async function openAs(name: string, options: { readonly width?: number; readonly dark?: boolean } = {}) {
    const context = await browser.newContext({
      viewport: { width: options.width ?? 1280, height: 900 },
      colorScheme: options.dark ? "dark" : "light",
      locale: "en",
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(`${place.url}/console/`);
    await signIn(page, name);
    return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
  }

  /** Signs the person in for registries with the command line, as the shown command needs it. Returns its variables. */
  async function signInForRegistry(page: Page, name: string): Promise<Record<string, string>> {
    const environment = { ...homeEnvironment(path.join(place.folder, name)), GATEHOUSE_URL: place.url };
    const login = start(["auth", "login", "--no-browser", "--audience", service], environment);
    await page.goto((await login.logged(/^ +http:\S+$/)).trim());
    await page.getByLabel(/Another person/).fill(name);
    await page.getByRole("button", { name: "Sign in" }).click();
    const { code, stderr } = await login.finished;
    assert.equal(code, 0, stderr);
    return environment;
  }

  it("sees the groups by path with roles, repos, workloads and what waits, and no call is denied", async () => {
    await using opened = await openAs("member");
    const { page, complaints } = opened;
    await page.getByRole("button", { name: "Join" }).click();
    const own = part(page, "Your groups");
    await own
      .getByRole("listitem")
      .filter({ hasText: /…\s*\/\s*web.*registry\.pull/ })
      .waitFor();
    await own
      .getByRole("listitem")
      .filter({ hasText: /…\s*\/\s*data.*viewer/ })
      .waitFor();
    assert.equal(await own.getByRole("listitem").count(), 2);
    await part(page, "Your repos").getByRole("link", { name: "app" }).waitFor();
    await part(page, "Your workloads").getByRole("link", { name: "nightly" }).waitFor();
    await part(page, "Waiting for you").getByText("No organization waits").waitFor();
    assert.equal(await page.getByRole("region", { name: "First steps" }).count(), 0);
    assert.deepEqual(await findProblems(page), []);
    await own.getByRole("link", { name: "What may I do?" }).click();
    await page.getByRole("button", { name: "registry.pull" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("the command that is shown pulls the image", async () => {
    await using opened = await openAs("member");
    const { page, complaints } = opened;
    const repos = part(page, "Your repos");
    const command = await repos.getByText("docker pull").innerText();
    assert.equal(command, `docker pull ${service}/web/app:1.4`);
    const login = await repos.getByText("gatehouse auth token").innerText();
    assert.deepEqual(complaints, []);
    const environment = await signInForRegistry(page, "member");
    const [first = ""] = login.split(" | ");
    const token = start(first.split(" ").slice(1), environment);
    const { code, stdout, stderr } = await token.finished;
    assert.equal(code, 0, stderr);
    // The host in the command leads to the registry of this test, as the name service does elsewhere.
    const registries = path.join(place.folder, "registries.conf");
    writeFileSync(registries, `[[registry]]\nprefix = "${service}"\nlocation = "${place.registry}"\ninsecure = true\n`);
    const target = path.join(place.folder, "pulled");
    const image = command.replace("docker pull ", "docker://");
    const credentials = path.join(place.folder, "auth.json");
    const auth = Buffer.from(`_token:${stdout.trim()}`).toString("base64");
    writeFileSync(credentials, JSON.stringify({ auths: { [place.registry]: { auth } } }));
    const flags = ["--insecure-policy", "--registries-conf", registries, "copy", "--authfile", credentials];
    const pulled = spawnSync("skopeo", [...flags, image, `dir:${target}`], {
      env: { ...process.env, ...environment },
      encoding: "utf8",
    });
    assert.equal(pulled.status, 0, pulled.stderr);
    const inspected = spawnSync("skopeo", ["inspect", "--format", "{{.Digest}}", `dir:${target}`], {
      encoding: "utf8",
    });
    assert.equal(inspected.stdout.trim(), digest);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using opened = await openAs("member", { width, dark });
        const { page, complaints } = opened;
        await part(page, "Your repos").getByText("docker pull").waitFor();
        assert.deepEqual(await findProblems(page), []);
        if (process.env.SCREENSHOTS)
          await page.screenshot({
            path: `${process.env.SCREENSHOTS}/home-${width}-${dark ? "dark" : "light"}.png`,
            fullPage: true,
          });
        assert.deepEqual(complaints, []);
      });
});
