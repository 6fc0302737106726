// Part of `npm run suites -- advisories`: osv-scanner finds the same vulnerabilities with the archives of the server as the server's API of
// OSV.dev, for packages that public records name.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { productOf, splitEcosystem } from "../../../src/advisories/ecosystems.ts";
import { versionedPurl } from "../../../src/advisories/purl.ts";
import { type Desk, type Json, openDesk } from "../../cli/advisories/desk.ts";
import { type FetchedSource, fetchSource, realSources } from "./sources.ts";

const hasScanner = spawnSync("osv-scanner", ["--version"], { stdio: "ignore" }).status === 0;
const missing =
  !hasScanner && "osv-scanner is missing: go install github.com/google/osv-scanner/v2/cmd/osv-scanner@v2.5.0";
const wanted = realSources().filter(({ registry, format }) => registry === "go" && format === "osv");
const found = hasScanner ? await Promise.all(wanted.map((source) => fetchSource(source).catch(() => undefined))) : [];
const sources = found.filter((each): each is FetchedSource => each !== undefined);
if (missing) console.error(`suite advisories: ${missing}`);

/** The packages that are looked up. */
const mostPackages = 1000;

/** A component of an SBOM. */
interface Component {
  readonly name: string;
  readonly purl: string;
}

/** Returns the packages of a record, in the versions at which its ranges begin and end. */
function componentsOf({ affected = [] }: Json): Component[] {
  return affected.flatMap(({ package: named, ranges = [] }: Json) => {
    if (!named) return [];
    const { ecosystem } = splitEcosystem(named.ecosystem);
    const { purl } = productOf(ecosystem, named.name);
    const events: Json[] = ranges.flatMap((range: Json) => (range.type === "GIT" ? [] : range.events));
    const versions = events.flatMap(({ introduced, fixed, last_affected: last }) => introduced ?? fixed ?? last);
    // Names that differ in their case only are one package for the API, and several for osv-scanner.
    if (purl === "" || named.name !== named.name.toLowerCase()) return [];
    return versions.map((version) => ({
      name: named.name,
      purl: versionedPurl(purl, version === "0" ? "0.0.1" : version),
    }));
  });
}

const skip = missing || (sources.length === 0 && "the records could not be downloaded");

describe("osv-scanner", { skip }, () => {
  let desk: Desk;
  let group: string;
  let base: string;
  let headers: Readonly<Record<string, string>>;
  before(async () => {
    desk = await openDesk();
    group = await desk.newGroup();
    const { url, ownerToken } = desk.caller.server;
    base = `${url}/gatehouse/osv/groups/${group}`;
    headers = { authorization: `Basic ${Buffer.from(`_token:${ownerToken}`).toString("base64")}` };
    const { code, stderr } = await desk.importInto(group, ...sources.map(({ directory }) => directory));
    assert.ok(code === 0 || code === 1, stderr);
  });
  after(() => desk[Symbol.asyncDispose]());

  async function fetchDatabase(folder: string): Promise<string[]> {
    const list = await (await fetch(`${base}/ecosystems.txt`, { headers })).text();
    const ecosystems = list.split("\n").filter((line) => line !== "");
    for (const ecosystem of ecosystems) {
      const reply = await fetch(`${base}/${encodeURIComponent(ecosystem)}/all.zip`, { headers });
      assert.equal(reply.status, 200);
      mkdirSync(path.join(folder, "osv-scalibr", ecosystem), { recursive: true });
      writeFileSync(path.join(folder, "osv-scalibr", ecosystem, "all.zip"), Buffer.from(await reply.arrayBuffer()));
    }
    return ecosystems;
  }

  function scan(database: string, packages: readonly Component[]): Json[] {
    const components = packages.map((each) => ({ type: "library", "bom-ref": each.purl, ...each }));
    const sbom = path.join(desk.caller.home, "bom.cdx.json");
    writeFileSync(sbom, JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", version: 1, components }));
    const args = ["scan", "source", "--offline", "--local-db-path", database, "--all-packages", "--all-vulns"];
    const { stdout, stderr, status } = spawnSync("osv-scanner", [...args, "--format", "json", "-L", sbom], {
      encoding: "utf8",
      maxBuffer: 512 * 2 ** 20,
    });
    // 1 means that vulnerabilities were found.
    assert.ok(status === 0 || status === 1, stderr);
    return JSON.parse(stdout).results.flatMap(({ packages }: Json) => packages);
  }

  /** Returns the ids that the API finds for each query. Follows the page tokens of those that are not done. */
  async function queryAll(queries: readonly object[]): Promise<string[][]> {
    const ids = queries.map((): string[] => []);
    const open = queries.map((query, i) => ({ query, i }));
    while (open.length > 0) {
      const portion = open.splice(0, 250);
      const body = JSON.stringify({ queries: portion.map(({ query }) => query) });
      const reply = await fetch(`${base}/v1/querybatch`, { method: "POST", headers, body });
      const { results, message }: Json = await reply.json();
      assert.equal(reply.status, 200, message);
      for (const [j, { query, i }] of portion.entries()) {
        const { vulns = [], next_page_token: token } = results[j];
        ids[i]!.push(...vulns.map(({ id }: Json) => id));
        if (token) open.push({ query: { ...query, page_token: token }, i });
      }
    }
    return ids.map((each) => each.sort());
  }

  it("finds offline with the archives of the server what the API of OSV.dev of the same group finds", async () => {
    const database = path.join(desk.caller.home, "db");
    const ecosystems = await fetchDatabase(database);
    const archive = path.join(database, "osv-scalibr", "Go", "all.zip");
    assert.match(execFileSync("unzip", ["-tq", archive], { encoding: "utf8" }), /No errors detected/);
    const records = sources.flatMap(({ files }) => files).map((file) => JSON.parse(readFileSync(file, "utf8")));
    const all: Component[] = records.flatMap(componentsOf);
    const unique = [...new Map(all.map((each) => [each.purl, each])).values()];
    // Not more than the computing time of one caller allows.
    const components = unique.filter((_, i) => i % Math.ceil(unique.length / mostPackages) === 0);
    const scanned = scan(database, components);
    const online = await queryAll(
      scanned.map(({ package: { name, ecosystem, version } }) => ({ package: { name, ecosystem }, version })),
    );
    const differences = scanned.flatMap(({ package: named, vulnerabilities = [] }, i) => {
      const offline = vulnerabilities.map(({ id }: Json) => id).sort();
      return String(offline) === String(online[i]) ? [] : JSON.stringify({ ...named, offline, online: online[i] });
    });
    const total = online.flat().length;
    console.log(
      `${records.length} records of ${ecosystems.length} ecosystems, ${scanned.length} packages, ${total} findings`,
    );
    assert.deepEqual(differences, []);
    assert.ok(total > 1000);
  });
});
