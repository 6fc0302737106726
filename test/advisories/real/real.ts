// `npm run suites -- advisories`: public documents are imported, imported again, exported and queried. Not a part of `npm test`, since
// the documents are downloaded (sources.ts).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import Sqlite from "better-sqlite3";
import { readChanges } from "../../../src/storage/change-log/change-log.ts";
import { type Desk, type Json, openDesk } from "../../cli/advisories/desk.ts";
import { rest } from "../../harness/rest.ts";
import { loadValidator } from "../csaf/validator.ts";
import { effectiveByGoVex, missingGoVex } from "../go-vex/run.ts";
import { publishedSchema } from "../osv/end-to-end/published-schema.ts";
import { affects } from "./semver-evaluator.ts";
import { type FetchedSource, fetchSource, realSources } from "./sources.ts";

const hasGo = spawnSync("go", ["version"], { stdio: "ignore" }).status === 0;
const found = await Promise.all(
  realSources()
    .filter(({ registry }) => hasGo || registry !== "go")
    .map((source) => fetchSource(source).catch((error: Error) => ({ name: source.name, error }))),
);
const sources = found.filter((each): each is FetchedSource => "files" in each);
for (const each of found)
  if ("error" in each) console.error(`suite advisories: ${each.name} is skipped: ${each.error.message.split("\n")[0]}`);
if (!hasGo)
  console.error("suite advisories: Go modules and go-vex are skipped: Go is missing (apt-get install golang)");

const schema = await publishedSchema().catch(() => undefined);
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const isOsv = schema && ajv.compile(schema);
const noGoVex = missingGoVex();
const csafFailures = await loadValidator();

/** The JSON documents of a source. */
function documentsOf({ files }: FetchedSource): Json[] {
  return files.map((file) => JSON.parse(readFileSync(file, "utf8")));
}

describe("public documents", { skip: sources.length === 0 && "skipped: nothing could be downloaded" }, () => {
  let desk: Desk;
  let observer: Sqlite.Database;
  let folder: string;
  const groups = new Map<string, string>();
  before(async () => {
    desk = await openDesk();
    observer = new Sqlite(path.join(desk.caller.server.config.dataDir, "gatehouse.db"), { readonly: true });
    folder = mkdtempSync(path.join(tmpdir(), "gatehouse-real-"));
  });
  after(async () => {
    observer.close();
    await desk[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function bring(
    source: FetchedSource,
    ...args: readonly string[]
  ): Promise<{ code: number | null; counts: Json }> {
    const group = groups.get(source.name) ?? (await desk.newGroup());
    groups.set(source.name, group);
    const { code, stdout, stderr } = await desk.importInto(group, source.directory, "-o", "json", ...args);
    assert.ok(stdout !== "", stderr);
    return { code, counts: JSON.parse(stdout) };
  }

  /** Returns the number of the last change, and a digest of each table of advisories: background work writes to other tables. */
  async function writes(): Promise<unknown[]> {
    const latest = await readChanges(desk.caller.server.server.database.session, 0, 10_000_000);
    const tables = observer.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '%advisor%'");
    const digests = (tables.pluck().all() as string[]).map((table) => {
      const digest = createHash("sha256");
      for (const row of observer.prepare(`SELECT * FROM ${table}`).raw().iterate()) digest.update(JSON.stringify(row));
      return [table, digest.digest("hex")];
    });
    assert.ok(digests.length > 1);
    return [latest.at(-1)?.sequence, ...digests];
  }

  async function exported(source: FetchedSource, format: string): Promise<string> {
    const args = [
      "--group",
      groups.get(source.name)!,
      "--format",
      format,
      "--ecosystem",
      "Wolfi",
      "--author",
      "Gatehouse",
    ];
    const { code, stdout, stderr } = await desk.caller.run("advisories", "export", ...args);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  /** Returns the documents that say that a version is affected, for each query. */
  async function affectedBy(group: string, queries: readonly object[]): Promise<string[][]> {
    const { url, ownerToken } = desk.caller.server;
    const ask = async (method: string, request: object): Promise<Json> => {
      const place = `/gatehouse/vulnerabilities/v1/affected:${method}`;
      for (;;) {
        const { status, body } = await rest(url, ownerToken, "POST", place, {
          ...request,
          uidp: { descendantsOf: group },
        });
        if (status === 200) return body;
        // The queries may use up the computing time of their caller, who then waits.
        assert.equal(status, 429, JSON.stringify(body));
        await setTimeout(1000);
      }
    };
    const { results } = await ask("batchQuery", { queries });
    const found: string[][] = [];
    for (const [i, { advisories = [], nextPageToken = "" }] of (results as Json[]).entries()) {
      const all: Json[] = [...advisories];
      for (let pageToken = nextPageToken; pageToken !== ""; ) {
        const page = await ask("query", { query: queries[i], pageToken });
        all.push(...(page.advisories ?? []));
        pageToken = page.nextPageToken ?? "";
      }
      const affected = all.filter(({ status }) => status === "PRODUCT_STATUS_AFFECTED");
      const documents = affected.flatMap(({ statements }) => statements.map(({ document }: Json) => document));
      found.push([...new Set<string>(documents)].sort());
    }
    return found;
  }

  for (const source of sources) {
    describe(source.name, () => {
      it("the counts of an import add up, and equal those of a dry run", async () => {
        const dry = await bring(source, "--dry-run");
        const { code, counts } = await bring(source);
        const { records, created, updated, unchanged, withdrawn, leftOut, filesNotRead } = counts;
        assert.equal(records, created + updated + unchanged + withdrawn + leftOut);
        assert.ok(records > 0);
        const problems = counts.problems.filter((problem: Json) => problem.leftOut !== "field");
        assert.equal(leftOut + filesNotRead, source.leftOut ?? 0, JSON.stringify(problems));
        assert.equal(code, (source.leftOut ?? 0) > 0 ? 1 : 0);
        assert.deepEqual(dry.counts, { ...counts, dryRun: true });
      });

      it("a second import writes nothing", async () => {
        const before = await writes();
        const { counts } = await bring(source);
        assert.equal(counts.unchanged + counts.leftOut, counts.records);
        assert.deepEqual(await writes(), before);
      });

      it("exports are valid OSV", { skip: !isOsv && "skipped: the schema of OSV could not be fetched" }, async () => {
        // Records from OSV are exported unchanged, including those that the schema rejects.
        const invalid = source.format === "osv" ? documentsOf(source).filter((each) => !isOsv!(each)) : [];
        const known = new Set(invalid.map(({ id }) => id));
        for (const record of JSON.parse(await exported(source, "osv")))
          assert.ok(known.has(record.id) || isOsv!(record), JSON.stringify([record.id, isOsv!.errors]));
      });

      it("exports are valid for go-vex", { skip: noGoVex ?? false }, async () => {
        const file = path.join(folder, `${source.name}.json`);
        writeFileSync(file, await exported(source, "openvex"));
        await effectiveByGoVex([file]);
      });

      it("exports pass the strict schema and the mandatory tests of CSAF", async () => {
        const failures = await csafFailures(JSON.parse(await exported(source, "csaf")));
        const others = failures.filter(
          (failure) => !source.csafFailures?.some((test) => failure.startsWith(`${test}:`)),
        );
        assert.deepEqual(others.slice(0, 5), []);
      });
    });
  }

  const go = sources.find(({ name }) => name === "go-vulnerability-database");
  it("queries return the statuses of the records", { skip: !go && "skipped: the database is not there" }, async () => {
    const records = documentsOf(go!);
    const asked = records
      .filter((_, i) => i % 20 === 0)
      .flatMap(({ affected = [] }: Json) =>
        affected.flatMap(({ package: { name, ecosystem }, ranges = [] }: Json) =>
          ranges
            .flatMap(({ events }: Json) => events.flatMap((event: Json) => Object.values(event)))
            .map((version: string) => ({ ecosystem, name, version: version === "0" ? "0.0.1" : version })),
        ),
      );
    const byName = Map.groupBy(
      records.flatMap((record) =>
        (record.affected ?? []).map(({ package: { name } }: Json) => ({ name: name.toLowerCase(), record })),
      ),
      ({ name }) => name,
    );
    for (let from = 0; from < asked.length; from += 500) {
      const queries = asked.slice(from, from + 500);
      for (const [i, documents] of (await affectedBy(groups.get(go!.name)!, queries)).entries()) {
        const { name, version } = queries[i]!;
        const expected = (byName.get(name.toLowerCase()) ?? [])
          .filter(({ record }) => affects(record, name, version))
          .map(({ record }) => record.id);
        assert.deepEqual(documents, [...new Set(expected)].sort(), `${name} ${version}`);
      }
    }
    assert.ok(asked.length > 200);
  });
});
