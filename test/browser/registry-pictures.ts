// Pictures of the registry and the advisories.
import type { Page } from "playwright-core";
import { rest } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { cycloneDx } from "../sboms/documents.ts";
import type { Stage } from "./access-pictures.ts";

const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
const readme =
  "# Session cache\n\nAn in-memory data store for sessions, built each day.\n\n```sh\ndocker run --rm -p 6379:6379 session-cache\n```\n";
const severe = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H";
const usual = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H";

/** The packages of the newest image, and those of the one before. */
const packages = {
  "3": ["pkg:npm/left@1.4.0", "pkg:npm/router@2.0.0", "pkg:npm/session@1.9.1"],
  "2": ["pkg:npm/left@1.0.0", "pkg:npm/parser@1.0.2", "pkg:npm/router@1.0.0", "pkg:npm/session@1.0.0"],
};

/** Adds repos with tags, advisories, and SBOMs of one repo. */
export async function addRegistryExamples({ url, token, org }: Stage): Promise<void> {
  const call = async (method: string, path: string, body?: object) => {
    const response = await rest(url, token, method, path, body);
    if (response.status !== 200) throw new Error(JSON.stringify(response.body));
    return response.body;
  };
  const uids: Record<string, string> = {};
  const images = {
    "session-cache": "In-memory data store for sessions",
    "ledger-db": "Relational database",
    "edge-proxy": "Web server and proxy",
  };
  for (const [name, description] of Object.entries(images)) {
    const { uid } = await call("POST", `/registry/v2beta1/repos/${org}`, { name, description });
    const tags = [
      { name: "7", digest: digestOf("1"), deprecated: true },
      { name: "latest", digest: digestOf("2") },
      { name: "8.1", digest: digestOf("2") },
      { name: "8.2", digest: digestOf("3") },
      { name: "latest", digest: digestOf("3") },
    ];
    for (const tag of tags) await call("POST", `/registry/v2beta1/tags/${uid}`, tag);
    const platforms = (size: number) => [
      { architecture: "amd64", size },
      { architecture: "arm64", size: size - 1_900_000 },
    ];
    const known = ["1", "2", "3"].map((letter, i) => ({
      digest: digestOf(letter),
      platforms: platforms(4e7 + i * 1e6),
    }));
    await call("POST", `/gatehouse/registry/v1/images/${uid}`, { images: known });
    await call("PATCH", `/registry/v2beta1/repos/${uid}/readme`, { content: readme });
    uids[name] = uid;
  }
  const records = Array.from({ length: 48 }, (_, i) => exampleRecord(i));
  await call("POST", `/gatehouse/vulnerabilities/v1/records/${org}:import`, { records });
  const base = `/gatehouse/registry/v1/images/${uids["session-cache"]}`;
  for (const [letter, purls] of Object.entries(packages)) {
    const content = Buffer.from(JSON.stringify(cycloneDx(purls))).toString("base64");
    await call("POST", `${base}:putSbom`, { digest: digestOf(letter), content });
    await until("the findings of an image", async () => {
      const { state } = await call("GET", `${base}:listFindings?digest=${digestOf(letter)}`);
      return state === "CHECK_STATE_CHECKED" ? true : undefined;
    });
  }
}

function exampleRecord(i: number): object {
  const id = `GHSA-2031-${100 + i}`;
  const name = ["left", "parser", "router", "session", "template"][(i * i) % 5]!;
  const fix = i % 4 === 0 ? [] : [{ type: "RANGE_EVENT_TYPE_FIXED", version: `1.${i % 7}.${i % 3}` }];
  const events = [{ type: "RANGE_EVENT_TYPE_INTRODUCED", version: "0" }, ...fix];
  const product = { purl: `pkg:npm/${name}`, ecosystem: "npm", name };
  return {
    source: "osv",
    document: id,
    vulnerability: id,
    advisoryId: id,
    format: "RECORD_FORMAT_OSV",
    modifyTime: "2026-11-02T03:04:05.000Z",
    aliases: [`CVE-2031-${100 + (i >> 1)}`],
    summary: "Made up",
    severities: [{ type: "CVSS_V3", score: i % 6 === 0 ? severe : usual }],
    statements: [{ product, status: "PRODUCT_STATUS_AFFECTED", ranges: [{ type: "SEMVER", events }] }],
  };
}

/** Takes the pictures. */
export async function registryPictures(
  page: Page,
  { url, org }: Stage,
  shoot: (view: string) => Promise<void>,
): Promise<void> {
  const base = `${url}/console/o/${org}`;
  await page.goto(`${base}/registry/`);
  await page.getByRole("link", { name: "session-cache" }).click();
  await page.getByText("MB").first().waitFor();
  await shoot("registry");
  await page.getByRole("link", { name: /^Image of 8\.2/ }).click();
  await page.getByRole("table", { name: "Findings" }).getByRole("row").nth(1).waitFor();
  await shoot("image");
  await page.goto(`${base}/advisories/`);
  await page.getByRole("link", { name: /^GHSA/ }).first().waitFor();
  await shoot("advisories");
  await page.getByRole("link", { name: /^GHSA/ }).first().click();
  await page.getByRole("button", { name: "Add event" }).click();
  await page.getByLabel("not affected").check();
  await page.getByLabel("The code is never run").check();
  await page.getByLabel("Explanation").fill("The parser is in the package for its tests only.");
  await page.getByLabel("Approved").check();
  await shoot("advisory-event");
}
