// Findings about identities whose rule lets in others.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addCaller, addGroup, ownerRole } from "../../security/tree.ts";

after(stopPostgres);

const gitHub = "https://token.actions.githubusercontent.com";
const wide = { issuer: gitHub, subjectPattern: "repo:acme.*" };
const careful = {
  issuer: gitHub,
  subjectPattern: "repo:acme(@12)?/app(@74)?:ref:refs/heads/main",
  claims: { repository_id: "74", repository_owner_id: "12" },
};
/** How many rules one call checks. */
const checkedAtOnce = 50;

for (const database of databases) {
  describe(`findings of broad rules on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database });
    });
    after(() => server[Symbol.asyncDispose]());

    async function call(token: string, method: string, path: string, body?: object) {
      const { status, body: found } = await rest(server.url, token, method, path, body);
      assert.equal(status, 200, `${path}: ${JSON.stringify(found)}`);
      return found;
    }

    async function newRoot() {
      const root = await addGroup(server, null);
      return { root, ...(await addCaller(server, root, ownerRole.uid)) };
    }

    async function add(token: string, root: string, name: string, relationship: object): Promise<string> {
      return (await call(token, "POST", `/iam/v2beta1/identities/${root}`, { name, ...relationship })).uid;
    }

    /** Returns the names of the findings with their count. */
    async function list(token: string, root: string, more: Record<string, string> = {}) {
      const query = new URLSearchParams({ parent: root, kinds: "FINDING_KIND_BROAD_RULE", page_size: "200", ...more });
      const { findings = [], counts = [] } = await call(token, "GET", `/gatehouse/organizations/v1/findings?${query}`);
      const [{ count, isMinimum } = { count: "none", isMinimum: false }] = counts;
      const names = findings.map(({ resourceName }: { resourceName: string }) => resourceName);
      return { names: names as string[], count: `${count}${isMinimum ? "+" : ""}` };
    }

    it("names the identities for whose rules LintRule has an error, until the rule is mended", async () => {
      const { root, token } = await newRoot();
      const uid = await add(token, root, "wide", { claimMatch: wide });
      await add(token, root, "careful", { claimMatch: careful });
      await add(token, root, "service", { servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" });
      for (const claimMatch of [wide, careful]) {
        const { findings = [] } = await call(token, "POST", "/gatehouse/iam/v1/trust:lint", { claimMatch });
        const isBroad = findings.some(({ severity }: { severity: string }) => severity === "SEVERITY_ERROR");
        assert.equal(isBroad, claimMatch === wide);
      }
      assert.deepEqual(await list(token, root), { names: ["wide"], count: "1" });
      const query = new URLSearchParams({ parent: root, kinds: "FINDING_KIND_BROAD_RULE" });
      const { findings } = await call(token, "GET", `/gatehouse/organizations/v1/findings?${query}`);
      const { time, ...shown } = findings[0];
      assert.ok(Date.parse(time) > 0);
      assert.deepEqual([shown.kind, shown.resourceUid, shown.groupUid], ["FINDING_KIND_BROAD_RULE", uid, root]);
      await call(token, "PATCH", `/iam/v2beta1/identities/${uid}?update_mask=claimMatch`, { claimMatch: careful });
      assert.deepEqual(await list(token, root), { names: [], count: "0" });
    });

    it("is listed by callers who may list identities, and each sees those of its own groups", async () => {
      const { root, token } = await newRoot();
      await add(token, root, "above", { claimMatch: wide });
      const team = await addGroup(server, root);
      await add(token, team, "in the team", { claimMatch: wide });
      const { token: member } = await addCaller(server, team, ownerRole.uid);
      assert.deepEqual((await list(member, root)).names, ["in the team"]);
      const { token: stranger } = await newRoot();
      assert.deepEqual(await list(stranger, root), { names: [], count: "none" });
    });

    it("checks some rules with each call, holds up no other kind, and knows what it has checked", async () => {
      const { root: organization, token } = await newRoot();
      // Without the identity of the caller.
      const root = await addGroup(server, organization);
      const rules = 2 * checkedAtOnce + 10;
      const identity = (i: number, subjectPattern: string) => ({
        identity: { name: `ci-${String(i).padStart(3, "0")}`, claimMatch: { issuer: gitHub, subjectPattern } },
      });
      const resources = Array.from({ length: rules }, (_, i) => identity(i, `repo:acme-${i}.*`));
      await call(token, "POST", "/gatehouse/apply/v1/resources:apply", { groupUid: root, resources });
      const query = new URLSearchParams({ parent: root });
      const { counts } = await call(token, "GET", `/gatehouse/organizations/v1/findings?${query}`);
      const partial = counts.filter(({ isMinimum }: { isMinimum: boolean }) => isMinimum);
      assert.deepEqual(partial, [{ kind: "FINDING_KIND_BROAD_RULE", count: String(checkedAtOnce), isMinimum: true }]);
      assert.equal((await list(token, root)).count, `${2 * checkedAtOnce}+`);
      assert.equal((await list(token, root)).count, String(rules));
      // Equal rules are checked once.
      const equal = Array.from({ length: rules }, (_, i) => identity(rules + i, "repo:acme-0.*"));
      await call(token, "POST", "/gatehouse/apply/v1/resources:apply", { groupUid: root, resources: equal });
      const { names, count } = await list(token, root, { page_size: "3", skip: String(2 * rules - 2) });
      assert.deepEqual([names.length, count], [2, String(2 * rules)]);
    });

    it("a rule whose patterns take too many steps does not fail the list", async () => {
      const { root, token } = await newRoot();
      const slow = { ...wide, claimPatterns: { repository: "[a-z/]{500}" } };
      const { status, body } = await rest(server.url, token, "POST", "/gatehouse/iam/v1/trust:lint", {
        claimMatch: slow,
      });
      assert.equal(status, 403);
      assert.match(body.message, /takes too many steps/);
      await add(token, root, "slow", { claimMatch: slow });
      await add(token, root, "wide", { claimMatch: wide });
      assert.deepEqual(await list(token, root), { names: ["wide"], count: "1" });
    });
  });
}
