// `db migrate` and the setting `migrate`, on both databases.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, describe, it } from "node:test";
import { newPostgresDatabase, stopPostgres } from "../harness/postgres.ts";
import { dataDirectory, run } from "./process.ts";

after(stopPostgres);

const databases = [
  ["SQLite", async (folder: string) => ["--data-dir", folder]],
  ["PostgreSQL", async () => ["--database-url", await newPostgresDatabase()]],
] as const;
const migrateOff =
  /^gatehouse: data(-dir|base-url): there is no database of Gatehouse at [^@]+, and migrate is off; create it with gatehouse db migrate\.\n$/;

for (const [name, argumentsIn] of databases) {
  describe(`gatehouse db migrate, ${name}`, () => {
    it("plans as SQL with exit code 3, applies with the time of each, and has then nothing to do", async () => {
      using data = dataDirectory();
      const where = await argumentsIn(data.path);
      const plan = await run(["db", "migrate", "--plan", ...where]);
      assert.match(plan.stdout, /^-- 0000_initial: safe while servers of the version before run\n/);
      assert.match(plan.stdout, /^CREATE TABLE [`"]groups[`"] \(/m);
      assert.deepEqual([plan.code, plan.stderr], [3, ""]);
      assert.equal(existsSync(path.join(data.path, "gatehouse.db")), false);

      const applied = await run(["db", "migrate", "--migrate=off", ...where]);
      assert.match(applied.stdout, /^applied 0000_initial in \d+ ms\n(applied \d{4}_\w+ in \d+ ms\n)*$/);
      assert.deepEqual([applied.code, applied.stderr], [0, ""]);

      const again = await run(["db", "migrate", ...where]);
      assert.deepEqual(again, { code: 0, stdout: "no migration is pending\n", stderr: "" });
      const after = await run(["db", "migrate", "--plan", ...where]);
      assert.deepEqual(after, { code: 0, stdout: "-- no migration is pending\n", stderr: "" });
      assert.equal((await run(["db", "check", "--migrate=off", ...where])).code, 0);
    });

    it("is named where migrations are off and there is no database", async () => {
      using data = dataDirectory();
      const where = await argumentsIn(data.path);
      for (const command of [
        ["serve", "--base-url", "https://iam.test"],
        ["keys", "list"],
      ]) {
        const { code, stdout, stderr } = await run([...command, "--migrate", "off", ...where]);
        assert.match(stderr, migrateOff);
        const [start] = command;
        assert.deepEqual([code, stdout], [2, start === "serve" ? "Starting Gatehouse…\n" : ""]);
      }
    });
  });
}
