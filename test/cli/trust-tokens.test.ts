// Seen tokens, and rules that are tried on them, on the command line.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { rest } from "../harness/rest.ts";
import { keyPair, signOutside, startIssuer } from "../sts/outside.ts";
import { type Caller, createWorkload, startCaller } from "./caller.ts";

let caller: Caller;
let issuer: Awaited<ReturnType<typeof startIssuer>>;
const key = keyPair("ES256");
describe("seen tokens on the command line", () => {
  before(async () => {
    caller = await startCaller();
    issuer = await startIssuer(key);
    const identity = await createWorkload(caller, issuer.url);
    await caller.run("iam", "identities", "update", "ci", "--subject-pattern", "ci|deploy");
    for (const sub of ["ci", "deploy", "other"]) await exchange(identity, sub);
    while ((await caller.json("iam", "trust", "tokens", "ci")).items.length < 3);
  });
  after(async () => {
    await issuer[Symbol.asyncDispose]();
    await caller[Symbol.asyncDispose]();
  });

  async function exchange(identity: string, sub: string): Promise<void> {
    const { url, config } = caller.server;
    const exp = Math.floor(Date.now() / 1000) + 600;
    const token = await signOutside(key, { iss: issuer.url, sub, aud: config.baseUrl, exp });
    await rest(url, token, "GET", `/sts/exchange?${new URLSearchParams({ aud: config.baseUrl, identity })}`);
  }

  describe("gatehouse iam trust tokens", () => {
    it("lists subjects with outcome and count, and further claims with -o wide", async () => {
      const { code, stdout } = await caller.run("iam", "trust", "tokens", "ci");
      assert.equal(code, 0);
      assert.match(stdout, /^OUTCOME +EXCHANGES +LAST +SUBJECT\n/);
      assert.match(stdout, /^allowed +1 +\d{4}-\d\d-\d\d +deploy$/m);
      assert.match(stdout, /^denied by sub +1 +\d{4}-\d\d-\d\d +other$/m);
      const wide = await caller.run("iam", "trust", "tokens", "ci", "-o", "wide");
      assert.match(wide.stdout, /^allowed +1 +\S+ +sts +ci +aud=http/m);
    });
  });

  describe("gatehouse iam trust replay", () => {
    const replay = (...args: string[]) => caller.run("iam", "trust", "replay", "ci", ...args);

    it("exits with 1 if a token gets another verdict, and names it", async () => {
      const { code, stdout, stderr } = await replay("--subject-pattern", "ci|other");
      assert.equal(code, 1);
      assert.match(stdout, /^VERDICT +BY +EXCHANGES +LAST +SUBJECT\n/);
      assert.match(
        stdout,
        /^newly allowed +1 +\S+ +other\nnewly denied +sub +1 +\S+ +deploy\nagreed allowed +1 +\S+ +ci\n$/m,
      );
      assert.match(stderr, /2 tokens get another verdict/);
    });

    it("exits with 0 if all verdicts stay, as with the rule of the identity itself", async () => {
      assert.equal((await replay("--subject-pattern", "(ci|deploy)")).code, 0);
      const { code, stdout } = await replay();
      assert.equal(code, 0);
      assert.doesNotMatch(stdout, /newly/);
    });

    it("says when a rule reads a claim that is not stored", async () => {
      const { code, stdout, stderr } = await replay("--claim", "team=a");
      assert.equal(code, 0);
      assert.match(stdout, /^not decidable +team +1 +\S+ +ci$/m);
      assert.match(stderr, /Not decidable: the rule reads a claim that is stored only once/);
    });

    it("takes the rule of the identity from a file, and prints JSON", async () => {
      const file = path.join(caller.home, "identity.yaml");
      const identity = { name: "ci", claimMatch: { issuer: issuer.url, subject: "ci" } };
      writeFileSync(file, JSON.stringify({ kind: "Identity", group: "example.org", ...identity }));
      const { code, stdout } = await replay("--file", file, "-o", "json");
      assert.equal(code, 1, stdout);
      const verdicts = JSON.parse(stdout).items.map(({ verdict }: { verdict: string }) => verdict);
      assert.deepEqual(verdicts.toSorted(), [
        "VERDICT_AGREED_ALLOWED",
        "VERDICT_AGREED_DENIED",
        "VERDICT_NEWLY_DENIED",
      ]);
    });

    it("rejects a file without the identity, flags together with a file, and days that are not a number", async () => {
      const file = path.join(caller.home, "other.yaml");
      const identity = { name: "other", claimMatch: { issuer: issuer.url, subject: "ci" } };
      writeFileSync(file, JSON.stringify({ kind: "Identity", group: "example.org", ...identity }));
      assert.match((await replay("--file", file)).stderr, /no claim match for an identity with the name ci/);
      assert.equal((await replay("--file", file, "--subject", "x")).code, 2);
      assert.equal((await replay("--days", "many")).code, 2);
      assert.match((await replay("--days", "1000")).stderr, /days: must be from 0 to 400/);
    });
  });

  describe("gatehouse iam trust tokens --clear", () => {
    const clear = (...args: string[]) => caller.run("iam", "trust", "tokens", "ci", ...args);

    it("deletes nothing where nobody can confirm it, nor does --yes alone", async () => {
      const { code, stderr } = await clear("--clear");
      assert.equal(code, 2);
      assert.match(stderr, /Delete the seen tokens of ci\?/);
      assert.equal((await clear("--yes")).code, 2);
      assert.equal((await caller.json("iam", "trust", "tokens", "ci")).items.length, 3);
    });

    it("deletes the seen tokens of the identity", async () => {
      const { code, stdout, stderr } = await clear("--clear", "--yes");
      assert.deepEqual([code, stdout, stderr], [0, "", "Deleted the seen tokens of ci.\n"]);
      assert.deepEqual((await caller.json("iam", "trust", "tokens", "ci")).items, []);
    });
  });
});
