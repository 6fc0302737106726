// Images in the console: the severity of tags, the page of an image, and the images that an advisory affects.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { hourMs } from "../../src/base/clock.ts";
import { storeImageUses, UseKind } from "../../src/storage/registry/image-uses.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { critical, findingsOn, osv } from "../registry/finding-harness.ts";
import { arrange } from "../security/tree.ts";
import { openChromium } from "./chromium.ts";
import { bindRole, buildConsole, findProblems, openConsoleAs } from "./console.ts";

const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
const invalid = "not a package URL";

/** A statement of OpenVEX about all packages of the images of the repo. */
const statement = {
  "@context": "https://openvex.dev/ns/v0.2.0",
  "@id": "https://example.org/vex/1",
  author: "security@example.org",
  version: 1,
  timestamp: "2030-01-02T03:04:05Z",
  statements: [
    {
      vulnerability: { name: "A-3" },
      status: "not_affected",
      justification: "component_not_present",
      products: [{ "@id": "pkg:oci/shop" }],
    },
  ],
};

describe("images in the console", { timeout: 600_000 }, () => {
  let browser: Browser;
  let server: TestServer;
  let shop = "";
  let advisory = "";
  before(async () => {
    buildConsole();
    browser = await openChromium();
    server = await startTestServer({});
    const { call, importAll, importAsIs, newImage, become } = findingsOn(server);
    const org = server.groupUid;
    const more = Array.from({ length: 60 }, (_, i) => osv(`B-${100 + i}`, "many", "2.0.0"));
    await importAll(
      org,
      osv("A-1", "left", "2.0.0"),
      osv("A-2", "right", "2.0.0", critical),
      osv("A-3", "over", "2.0.0"),
    );
    await importAll(org, osv("A-4", "nowhere", "2.0.0"), ...more);
    await importAsIs(org, statement);
    const purls = ["pkg:npm/left@1.5.0", "pkg:npm/right@1.0.0", "pkg:npm/over@1.0.0", invalid];
    const image = await newImage(org, "shop", purls);
    shop = image.uid;
    await become(() => image.list(), ["A-2 pkg:npm/right@1.0.0", "A-1 pkg:npm/left@1.5.0"]);
    advisory = (await image.list()).findings[0].advisoryUid;
    await call("POST", `/registry/v2beta1/tags/${shop}`, { name: "2.0", digest: digestOf("b") });
    const long = await newImage(org, "long", ["pkg:npm/many@1.0.0"], digestOf("c"));
    const expected = more.slice(0, 50).map(({ id }) => `${id} pkg:npm/many@1.0.0`);
    await become(() => long.list(), expected);
    for (const name of ["owner", "viewer"]) await bindRole(server, name, name);
    const hour = Math.floor(Date.now() / hourMs) - 2;
    const use = { repoUid: shop, digest: digestOf("a"), tag: "1.0", hour, count: 1 };
    await arrange(server, (tx) => storeImageUses(tx, [{ ...use, actor: server.ownerUid, kind: UseKind.pull }]));
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const repoPath = (search = "") => `/console/o/${server.groupUid}/registry/${shop}${search}`;
  const imagePath = (letter: string, more = "") => repoPath(`?image=${encodeURIComponent(digestOf(letter))}${more}`);
  const advisoryPath = (uid: string) => `/console/o/${server.groupUid}/advisories/${uid}`;

  const openAs = (name: string, path: string, options: { readonly width?: number; readonly dark?: boolean } = {}) =>
    openConsoleAs(browser, server, name, { path, ...options });

  it("a tag has the number of its findings by severity, or is unknown without an SBOM", async () => {
    await using console = await openAs("viewer", repoPath());
    const { page, complaints } = console;
    const tags = page.getByRole("region", { name: "Tags" });
    await tags.getByRole("link", { name: "Image of 1.0: Critical 1 No score 1" }).waitFor();
    await tags.getByRole("link", { name: "Image of 2.0: unknown" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("shows findings, packages and SBOMs of an image, by keyboard alone", async () => {
    await using console = await openAs("viewer", repoPath());
    const { page, complaints } = console;
    await page.getByRole("link", { name: /^Image of 1\.0/ }).press("Enter");
    await page.getByRole("heading", { name: "shop:1.0", exact: true }).waitFor();
    const findings = page.getByRole("table", { name: "Findings" });
    const first = findings.getByRole("row", {
      name: /A-2.*CVE-A-2.*Critical.*pkg:npm\/right@1\.0\.0.*2\.0\.0.*affected/,
    });
    await first.waitFor();
    await page.getByText("3 packages · 1 not checked").waitFor();
    assert.equal(await findings.getByRole("row", { name: /A-3/ }).count(), 0);
    await page.getByLabel("Also fixed and not affected").press("Space");
    await findings.getByRole("row", { name: /A-3.*not affected.*by a statement about the image: .*vex\/1/ }).waitFor();
    assert.match(page.url(), /settled=too/);
    await page.getByLabel("Severity", { exact: true }).selectOption({ label: "Critical" });
    await findings.getByRole("row", { name: /A-1/ }).waitFor({ state: "detached" });
    await first.waitFor();
    await page.getByRole("link", { name: "Packages", exact: true }).press("Enter");
    await page.getByRole("row", { name: "pkg:npm/left@1.5.0 upload" }).waitFor();
    await page.getByRole("link", { name: "SBOMs", exact: true }).press("Enter");
    await page.getByRole("row", { name: /upload.*CycloneDX 1\.6.*syft.*3.*1 not checked/ }).waitFor();
    await page.getByRole("link", { name: "Findings", exact: true }).press("Enter");
    await first.getByRole("link", { name: "A-2", exact: true }).press("Enter");
    await page.getByRole("heading", { name: "A-2", exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("an image without an SBOM says first how one comes there", async () => {
    await using console = await openAs("viewer", imagePath("b"));
    const { page, complaints } = console;
    for (const part of ["Findings", "Packages", "SBOMs"]) {
      await page.getByRole("link", { name: part, exact: true }).click();
      const help = page.getByRole("region", { name: /^This image has no SBOM/ });
      await help.getByText(/^docker buildx build --sbom=true --tag .*shop:2\.0 --push \.$/).waitFor();
      await help.getByText(/^syft .*shop:2\.0 -o cyclonedx-json \| gatehouse images sboms put shop:2\.0$/).waitFor();
    }
    assert.deepEqual(complaints, []);
  });

  it("reads findings beyond the first page by a button", async () => {
    const { call } = findingsOn(server);
    const listed = await call("GET", `/registry/v2beta1/repos?uidp.children_of=${server.groupUid}&name=long`);
    const search = `?image=${encodeURIComponent(digestOf("c"))}`;
    await using console = await openAs(
      "viewer",
      `/console/o/${server.groupUid}/registry/${listed.body.repos[0].uid}${search}`,
    );
    const { page, complaints } = console;
    const rows = page.getByRole("table", { name: "Findings" }).locator("tbody").getByRole("row");
    await rows.first().waitFor();
    assert.equal(await rows.count(), 50);
    await page.getByRole("button", { name: "Show more" }).press("Enter");
    await page.getByRole("button", { name: "Show more" }).waitFor({ state: "detached" });
    assert.equal(await rows.count(), 60);
    assert.deepEqual(complaints, []);
  });

  it("an advisory lists the images that it affects, with their last use", async () => {
    await using console = await openAs("owner", advisoryPath(advisory));
    const { page, complaints } = console;
    const images = page.getByRole("table", { name: "Affected images" });
    const row = images.getByRole("row", { name: /shop.*1\.0.*pkg:npm\/right@1\.0\.0.*pull · owner/ });
    await row.waitFor();
    await row.getByRole("link", { name: "shop", exact: true }).press("Enter");
    await page.getByRole("heading", { name: "shop:1.0", exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it("an advisory that affects no image says that images without an SBOM are not known", async () => {
    const { call } = findingsOn(server);
    const path = `/vulnerabilities/v2beta1/advisories?uidp.descendants_of=${server.groupUid}&advisory_ids=A-4`;
    const listed = await call("GET", path);
    await using console = await openAs("viewer", advisoryPath(listed.body.advisories[0].uid));
    const { page, complaints } = console;
    const images = page.getByRole("region", { name: "Affected images" });
    await images.getByText(/no image with a tag is affected\. Nothing is known of images without an SBOM/).waitFor();
    await images.getByText("How to add an SBOM").press("Enter");
    await images.getByText("docker buildx build --sbom=true --tag IMAGE --push .").waitFor();
    assert.deepEqual(complaints, []);
  });

  it("makes no denied calls for a stranger", async () => {
    await using console = await openAs("stranger", imagePath("a"));
    await console.page.getByText("There is nothing at this address").waitFor();
    assert.deepEqual(console.complaints, []);
  });

  it("speaks German", async () => {
    await using console = await openAs("viewer", imagePath("b"));
    await console.page.getByText(/^This image has no SBOM/).waitFor();
    await console.page.evaluate("localStorage.setItem('gatehouse-language', 'de')");
    await console.page.reload();
    await console.page.getByText(/^Dieses Image hat keine SBOM/).waitFor();
    assert.deepEqual(console.complaints, []);
  });

  for (const dark of [false, true])
    for (const width of [1280, 375])
      it(`is accessible at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
        await using console = await openAs("owner", repoPath(), { width, dark });
        const { page, complaints } = console;
        const check = async (at: string) => assert.deepEqual(await findProblems(page), [], at);
        await page.getByText("Critical 1").waitFor();
        await check("tags");
        for (const part of ["", "&part=packages", "&part=sboms"]) {
          await page.goto(server.url + imagePath("a", part));
          await page
            .getByRole("table")
            .getByText(/upload|A-2/)
            .first()
            .waitFor();
          await check(`image ${part}`);
        }
        await page.goto(server.url + imagePath("b"));
        await page.getByText(/^This image has no SBOM/).waitFor();
        await check("no SBOM");
        await page.goto(server.url + advisoryPath(advisory));
        await page.getByRole("table", { name: "Affected images" }).waitFor();
        await check("advisory");
        assert.deepEqual(complaints, []);
      });
});
