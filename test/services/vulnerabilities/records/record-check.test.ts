// The check of the database finds advisories that cannot be found by what they are, and the repair puts it right.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { generateAdvisories } from "../../../../src/server/development/samples/advisories.ts";
import { collections } from "../../../../src/services/resources.ts";
import { insertAdvisory } from "../../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { checkDatabase, repairDatabase } from "../../../../src/storage/check/check-database.ts";
import { replaceTerms, replaceText } from "../../../../src/storage/vulnerabilities/advisory-terms.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { startTestServer } from "../../../harness/server.ts";
import { arrange } from "../../../security/tree.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`the check of advisories on ${database}`, () => {
    it("finds terms and texts that are missing, wrong, or without an advisory", async () => {
      await using ground = await startTestServer({ database });
      const check = () =>
        ground.server.database.read(async (session) => (await checkDatabase(session, collections)).findings);
      const [first, second] = await arrange(ground, async (tx) => {
        const uids: string[] = [];
        for (const advisory of generateAdvisories("check", 3))
          uids.push(await insertAdvisory(tx, ground.groupUid, advisory));
        return uids as [string, string];
      });
      assert.deepEqual(await check(), []);
      await arrange(ground, async (tx) => {
        await replaceTerms(
          tx,
          first,
          [{ filter: "artifactTypes", value: "apk" }],
          [{ filter: "aliases", value: "X-1" }],
        );
        await replaceTerms(tx, `${first}0`, [], [{ filter: "origins", value: "nobody" }]);
        await replaceText(tx, first, "something else");
        await replaceText(tx, second, undefined);
        await replaceText(tx, `${first}0`, "nobody's");
      });
      assert.deepEqual(
        (await check()).toSorted(),
        [
          `advisories ${first}0: the searched text does not belong to the row`,
          `advisories ${first}0: the term origins=nobody does not belong to the row`,
          `advisories ${first}: the searched text is missing or another`,
          `advisories ${first}: the term aliases=X-1 does not belong to the row`,
          `advisories ${first}: the term artifactTypes=apk is missing or another`,
          `advisories ${second}: the searched text is missing or another`,
        ].toSorted(),
      );
      assert.equal(await arrange(ground, (tx) => repairDatabase(tx, collections)), 6);
      assert.deepEqual(await check(), []);
    });
  });
}
