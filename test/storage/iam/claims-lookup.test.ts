// The lookup of a workload's identity below a group by issuer and subject, among 100,000 identities.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { findIdentitiesByClaims } from "../../../src/storage/iam/identities.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { uidOf } from "../fixtures.ts";
import { type Explained, explainOnPostgres, explainOnSqlite, planModes } from "../plans.ts";
import { openPostgresStore, openSqliteStore, type Store } from "../stores.ts";

after(stopPostgres);

const [own, stranger] = [uidOf(null, "own"), uidOf(null, "stranger")];
const issuer = "https://token.actions.githubusercontent.com";
const subject = "repo:acme/app-7:ref:refs/heads/main";
/** In each of two organizations. */
const identities = 50_000;

/** Fills two organizations: the stranger gave all of its identities the issuer and the subject of one workload of the other. */
async function fill({ tamper, url }: Store): Promise<void> {
  const series = url.startsWith("postgres")
    ? `(SELECT n FROM generate_series(1, ${identities}) n)`
    : `(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${identities}) SELECT n FROM s)`;
  const rows = (parent: string, subjectText: string) => `INSERT INTO identities (uid, parent, name, description, email,
      email_unverified, company, relationship_type, relationship, issuer, subject, metadata, last_seen_time, create_time, update_time)
    SELECT '${parent}/' || (1000000000000000 + n * 7919), '${parent}', 'ci-' || n, '', '', '', '', 1,
      '{"case":"claimMatch","value":{}}', '${issuer}', ${subjectText}, '{}', n, n, n
    FROM ${series} numbers`;
  await tamper(rows(own, "'repo:acme/app-' || n || ':ref:refs/heads/main'"));
  await tamper(rows(stranger, `'${subject}'`));
  await tamper("ANALYZE identities");
}

const lookup: Explained = async (session, name) => {
  name("lookup");
  await findIdentitiesByClaims(session, { groupUid: own, issuer, subject }, 10);
};

describe("the lookup of an identity by issuer and subject among 100,000", () => {
  if (databases.includes("sqlite"))
    it("on SQLite reads exactly the rows of the group from the index", async () => {
      await using store = await openSqliteStore();
      await fill(store);
      const plans = await explainOnSqlite(store.url, lookup);
      assert.deepEqual(
        plans.map(({ plan }) => plan),
        [
          [
            "SEARCH identities USING INDEX identities_issuer_subject ((issuer,subject,uid)>(?,?,?) AND (issuer,subject,uid)<(?,?,?))",
          ],
        ],
      );
    });

  if (databases.includes("postgres"))
    it("on PostgreSQL reads exactly the rows of the group from the index, by a plan for the values and for any values", async () => {
      await using store = await openPostgresStore();
      await fill(store);
      for (const mode of planModes) {
        const [found, ...others] = await explainOnPostgres(store.url, mode, lookup);
        assert.equal(others.length, 0);
        const text = found!.plan.join("\n");
        assert.match(
          text,
          /^Limit\n *-> *Index Scan using identities_issuer_subject on identities\n *Index Cond: \(\(ROW\(issuer, subject, uid\) >= .*ROW\(issuer, subject, uid\) < [^\n]*$/,
          mode,
        );
      }
    });
});
