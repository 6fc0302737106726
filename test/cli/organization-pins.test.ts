// Pinned names move with an organization: a name that others took over before or after the move does not get in.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { stopPostgres } from "../harness/postgres.ts";
import { isQuick } from "../harness/quick.ts";
import { rest } from "../harness/rest.ts";
import { forgeToken, gitHub, gitHubJob, startForges } from "../sts/forges.ts";
import { type Caller, startCaller } from "./caller.ts";

type Claims = Readonly<Record<string, unknown>>;

const own = gitHubJob("acme", "app", ["12", "74"]);
const recycled = gitHubJob("acme", "app", ["999", "888"]);
const anyJob = { issuer: gitHub, subjectPattern: ".*" };

let forges: Awaited<ReturnType<typeof startForges>>;
describe("pinned names that move with an organization", () => {
  before(async () => {
    forges = await startForges();
  });
  after(async () => {
    await forges[Symbol.asyncDispose]();
    await stopPostgres();
  });

  for (const [from, to] of [
    ["sqlite", "postgres"],
    ["postgres", "sqlite"],
  ] as const)
    describe(`pins of an organization that moves from ${from} to ${to}`, { skip: isQuick && to === "sqlite" }, () => {
      let source: Caller;
      let target: Caller;
      let file: string;
      let owner: string;
      const identities = { learned: "", explicit: "", off: "", none: "" };
      before(async () => {
        source = await startCaller({ database: from, settings: forges.settings });
        target = await startCaller({ database: to, settings: forges.settings });
        for (const name of ["learned", "explicit", "off", "none"] as const)
          identities[name] = await add(name, { claimMatch: anyJob });
        await set("explicit", { namePolicy: "NAME_POLICY_EXPLICIT", pinnedNames: pinned("12", "74") });
        await set("off", { namePolicy: "NAME_POLICY_OFF" });
        assert.equal((await exchange(source, "learned", own)).status, 200);
        file = path.join(source.home, "organization.ndjson");
        const { code, stdout, stderr } = await source.run("iam", "organizations", "export", "example.org", file);
        assert.equal(code, 0, stderr);
        assert.match(stdout + stderr, /3 lists of pinned names of workloads/);
        const imported = await importFile(file);
        assert.equal(imported.code, 0, imported.stdout + imported.stderr);
        owner = await target.server.tokenOf(source.server.ownerUid);
      });
      after(async () => {
        await source[Symbol.asyncDispose]();
        await target[Symbol.asyncDispose]();
      });

      const importFile = (name: string, ...flags: string[]) =>
        target.run("iam", "organizations", "import", name, ...flags);

      async function add(name: string, relationship: object): Promise<string> {
        const { groupUid } = source.server;
        return (await call(source, "POST", `/iam/v2beta1/identities/${groupUid}`, { name, ...relationship })).uid;
      }

      async function call(caller: Caller, method: string, at: string, body?: object) {
        const token = caller === source ? source.server.ownerToken : owner;
        const response = await rest(caller.server.url, token, method, at, body);
        assert.equal(response.status, 200, JSON.stringify(response.body));
        return response.body;
      }

      const set = (name: keyof typeof identities, trust: object) =>
        call(
          source,
          "PATCH",
          `/gatehouse/iam/v1/trust/${identities[name]}?update_mask=${Object.keys(trust).join(",")}`,
          trust,
        );

      async function exchange(caller: Caller, name: keyof typeof identities, claims: Claims) {
        const { url, config } = caller.server;
        const query = new URLSearchParams({ aud: config.baseUrl, identity: identities[name] });
        return await rest(url, await forgeToken(config.baseUrl, claims), "GET", `/sts/exchange?${query}`);
      }

      const reasonOf = ({ body }: { readonly body: { readonly details?: readonly { readonly reason?: string }[] } }) =>
        body.details?.find(({ reason }) => reason !== undefined)?.reason;

      const trustOf = async (caller: Caller, name: keyof typeof identities) =>
        await call(caller, "GET", `/gatehouse/iam/v1/trust/${identities[name]}`);

      const pinned = (ownerId: string, repositoryId: string) => [
        { kind: "owner", name: "acme", id: ownerId },
        { kind: "repository", name: "acme/app", id: repositoryId },
      ];

      function changed(name: string, change: (text: string) => string): string {
        const other = path.join(source.home, name);
        writeFileSync(other, change(readFileSync(file, "utf8")));
        return other;
      }

      it("an identity has the same pins and policy, with their sources and times", async () => {
        for (const name of ["learned", "explicit", "off", "none"] as const)
          assert.deepEqual(await trustOf(target, name), await trustOf(source, name), name);
        const { pinnedNames } = await trustOf(target, "learned");
        assert.deepEqual(
          pinnedNames.map(({ id, source: from }: Claims) => [id, from]),
          [
            ["12", "PIN_SOURCE_FIRST_USE"],
            ["74", "PIN_SOURCE_FIRST_USE"],
          ],
        );
      });

      it("a recycled name is denied at its first exchange after the move, and the workload gets in", async () => {
        const stranger = await exchange(target, "learned", recycled);
        assert.deepEqual([stranger.status, reasonOf(stranger)], [403, "NAME_REUSED"]);
        assert.equal((await exchange(target, "learned", own)).status, 200);
        const unknown = await exchange(target, "explicit", gitHubJob("acme", "other", ["12", "75"]));
        assert.deepEqual([unknown.status, reasonOf(unknown)], [403, "NAME_UNKNOWN"]);
        assert.equal((await exchange(target, "explicit", own)).status, 200);
        assert.equal((await exchange(target, "off", recycled)).status, 200);
      });

      it("a repeated import keeps names that a workload learned since, and is unchanged otherwise", async () => {
        assert.equal((await exchange(target, "learned", gitHubJob("acme", "new", ["12", "76"]))).status, 200);
        const { code, stdout } = await importFile(file, "--existing");
        assert.equal(code, 0, stdout);
        assert.match(stdout, /^created: nothing\nupdated: nothing\n/m);
        const { pinnedNames } = await trustOf(target, "learned");
        assert.deepEqual(
          pinnedNames.map(({ name, id }: Claims) => [name, id]),
          [
            ["acme", "12"],
            ["acme/app", "74"],
            ["acme/new", "76"],
          ],
        );
      });

      it("the file wins over another id of a name here; a dry run shows the difference and changes nothing", async () => {
        const other = changed("other-id.ndjson", (text) => text.replaceAll('"id":"74"', '"id":"75"'));
        const before = await trustOf(target, "learned");
        const dry = await importFile(other, "--existing", "--dry-run");
        assert.match(dry.stdout, /^~ line \d+: pinned names of a workload .*pinned_names: .*"74".* → .*"75"/m);
        assert.deepEqual(await trustOf(target, "learned"), before);
        assert.equal((await importFile(other, "--existing")).code, 0);
        assert.deepEqual(
          (await trustOf(target, "learned")).pinnedNames.map(({ name, id }: Claims) => [name, id]),
          [
            ["acme", "12"],
            ["acme/app", "75"],
            ["acme/new", "76"],
          ],
        );
        assert.equal((await importFile(file, "--existing")).code, 0);
      });

      it("an export of an earlier release has no pins, and its import leaves those here alone", async () => {
        const before = await trustOf(target, "learned");
        const earlier = changed("earlier.ndjson", (text) =>
          text.replaceAll(/^\{"identityTrust".*\n/gm, "").replace(/"identityTrust":\d+,?/, ""),
        );
        const { code, stdout, stderr } = await importFile(earlier, "--existing");
        assert.equal(code, 0, stdout + stderr);
        assert.deepEqual(await trustOf(target, "learned"), before);
      });

      it("the import stops before role bindings if pins are rejected", async () => {
        const wrong = changed("wrong.ndjson", (text) => text.replaceAll('"kind":"repository"', '"kind":"team"'));
        const { code, stdout, stderr } = await importFile(wrong, "--existing");
        assert.equal(code, 1, stdout);
        assert.match(stderr, /line \d+: pinned names of a workload: pinned_names\[1\]\.kind: must be one of/);
        assert.match(stderr, /role bindings would give access/);
        assert.doesNotMatch(stdout, /^unchanged: .*role binding/m);
      });
    });
});
