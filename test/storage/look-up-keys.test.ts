// The migration that adds look-up keys to older advisories produces the keys that the program computes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import pg from "pg";
import { packageKeyOf, productOfArtifact } from "../../src/advisories/product.ts";
import { loadSqliteDriver } from "../../src/storage/schema/drizzle.ts";
import { termIndex } from "../../src/storage/vulnerabilities/advisory-terms.ts";
import { newPostgresDatabase, stopPostgres } from "../harness/postgres.ts";

after(stopPostgres);

/** Name and type of artifacts, and the type of their components. */
const artifacts: readonly (readonly [name: string, type: string, component: string])[] = [
  ["curl", "apk", ""],
  ["Curl", "deb", "go-module"],
  ["team/app", "image", ""],
  ["github.com/A/b", "library", "go-module"],
  ["org.Example:core", "library", "java"],
  ["@scope/name", "library", "npm"],
  ["Zope_Interface.x", "library", "python"],
  ["serde", "library", "rust-crate"],
  ["actions/checkout", "library", "github actions"],
  ["vendor/package", "library", "packagist"],
  ["Newtonsoft.Json", "library", "nuget"],
  ["https://git.example.test/a.git", "source", ""],
  ["Acme Box \"1\" \\ 'x'", "", ""],
  ["", "", ""],
];

const expected = artifacts.map(([name, type, component]) =>
  packageKeyOf(productOfArtifact({ name, type, architecture: "" }, { name: "", type: component })),
);

/** The statements after those that change columns, and a table of their input. */
function statementsOf(dialect: string): string[] {
  const files = ["0024_look_up_keys", "0026_package_terms"].map(
    (name) => new URL(`../../src/storage/schema/migrations/${dialect}/${name}.sql`, import.meta.url),
  );
  const statements = files.flatMap((file) => readFileSync(file, "utf8").split("--> statement-breakpoint"));
  return statements.filter((text) => !text.includes("ALTER TABLE"));
}
const columns = "uid text, product text, artifact_name text, artifact_type text, component_type text";
const tables = (json: string) => [
  `CREATE TABLE advisories (${columns}, look_up_keys ${json} NOT NULL DEFAULT '[]')`,
  "CREATE TABLE advisory_terms (filter text, value text, uid text)",
];
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const rows = artifacts.map(
  ([name, type, component], i) =>
    `INSERT INTO advisories VALUES ('${i}', '', ${[name, type, component].map(quoted).join(", ")}, '[]')`,
);

function check(keys: readonly string[][], terms: readonly string[]): void {
  assert.deepEqual(
    keys.map(([key = ""]) => key),
    expected,
  );
  // The terms are those that a query uses.
  const { values } = termIndex(
    "products",
    expected.filter((key) => key !== ""),
  );
  assert.deepEqual(terms.toSorted(), JSON.parse(String(values["term.value"])).toSorted());
}

describe("keys of older advisories", () => {
  it("on SQLite", () => {
    const connection = new (loadSqliteDriver().BetterSqlite)(":memory:");
    try {
      for (const text of [...tables("text"), ...rows, ...statementsOf("sqlite")]) connection.exec(text);
      const all = (text: string) => connection.prepare(text).pluck().all() as string[];
      const keys = all("SELECT look_up_keys FROM advisories ORDER BY cast(uid AS integer)");
      check(
        keys.map((text) => JSON.parse(text)),
        all("SELECT value FROM advisory_terms WHERE filter = 'products'"),
      );
    } finally {
      connection.close();
    }
  });

  it("on PostgreSQL", async () => {
    const client = new pg.Client({ connectionString: await newPostgresDatabase() });
    await client.connect();
    try {
      for (const text of [...tables("json"), ...rows, ...statementsOf("postgres")]) await client.query(text);
      const keys = await client.query("SELECT look_up_keys FROM advisories ORDER BY cast(uid AS integer)");
      const terms = await client.query("SELECT value FROM advisory_terms WHERE filter = 'products'");
      check(
        keys.rows.map((row) => row.look_up_keys),
        terms.rows.map((row) => row.value),
      );
    } finally {
      await client.end();
    }
  });
});
