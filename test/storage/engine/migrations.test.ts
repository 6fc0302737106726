import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { DatabaseVersionMismatch } from "../../../src/storage/engine/errors.ts";
import { isLatest, refuseNewer, refuseOlder, watchMigrations } from "../../../src/storage/engine/migrations.ts";

const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-migrations-"));
after(() => rmSync(folder, { recursive: true }));
mkdirSync(path.join(folder, "meta"));
const entries = ["0000_first", "0001_second", "0002_third"].map((tag, i) => ({ tag, when: 1000 + i }));
writeFileSync(path.join(folder, "meta", "_journal.json"), JSON.stringify({ entries }));

/** The names that are reported for a database with a latest migration, or undefined if nothing is. */
function reportedFor(applied: number | undefined): readonly string[] | undefined {
  let reported: readonly string[] | undefined;
  watchMigrations(folder, applied, (names) => {
    reported = names;
  })();
  return reported;
}

/** No migration, one before the first, the first, the latest, and one after it. */
const times = [undefined, 999, 1000, 1002, 1003];

describe("migrations", () => {
  it("are reported by name if a database lacks them; none is for a new database", () => {
    assert.deepEqual(reportedFor(1000), ["0001_second", "0002_third"]);
    assert.deepEqual(reportedFor(1001), ["0002_third"]);
    assert.equal(reportedFor(1002), undefined);
    assert.equal(reportedFor(undefined), undefined);
  });

  it("are complete with the latest one only", () => {
    assert.deepEqual(
      times.map((applied) => isLatest(folder, applied)),
      [false, false, false, true, false],
    );
  });

  const refused = (refuse: typeof refuseOlder, applied: number | undefined) => {
    try {
      refuse(folder, applied);
      return false;
    } catch (error) {
      assert.ok(error instanceof DatabaseVersionMismatch);
      return true;
    }
  };

  it("are rejected before the first one and after the latest one", () => {
    assert.deepEqual(
      times.map((applied) => refused(refuseOlder, applied)),
      [false, true, false, false, false],
    );
    assert.deepEqual(
      times.map((applied) => refused(refuseNewer, applied)),
      [false, false, false, false, true],
    );
  });
});
