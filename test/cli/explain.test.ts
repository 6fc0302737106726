// "Why not?" on the command line.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { keyPair, signOutside, startIssuer } from "../sts/outside.ts";
import { type Caller, createWorkload, startCaller } from "./caller.ts";

let caller: Caller;
let identity: string;
let issuer: Awaited<ReturnType<typeof startIssuer>>;
const key = keyPair("ES256");
describe("commands that explain a denial", () => {
  before(async () => {
    caller = await startCaller();
    issuer = await startIssuer(key);
    identity = await createWorkload(caller, issuer.url);
  });
  after(async () => {
    await issuer[Symbol.asyncDispose]();
    await caller[Symbol.asyncDispose]();
  });

  describe("gatehouse auth can-i", () => {
    const canI = (...args: string[]) => caller.run("auth", "can-i", ...args);

    it("yes is 0, with role, group and binding", async () => {
      const { code, stdout } = await canI("groups.list", "--group", "example.org");
      assert.equal(code, 0);
      assert.match(stdout, /^yes: groups\.list at [0-9a-f]{40}\nROLE +GROUP +BINDING\n/);
      assert.match(stdout, /^owner +example\.org +[0-9a-f]{40}\/[0-9a-f]{16}$/m);
    });

    it("no is 1, with what is missing", async () => {
      const { code, stdout, stderr } = await canI("groups.delete", "--group", "example.org", "--as", "ci");
      assert.equal(code, 1);
      assert.match(stdout, /^no: groups\.delete at .*\n.*\nviewer +example\.org/);
      assert.match(stderr, /none of the roles that are bound there or above has the capability/);
    });

    it("prints JSON for programs, and nothing with -o none for scripts", async () => {
      const json = await canI("groups.list", "--group", "example.org", "--as", identity, "-o", "json");
      assert.equal(JSON.parse(json.stdout).granted, true);
      assert.equal((await canI("groups.list", "--group", "example.org", "-o", "none")).stdout, "");
    });

    it("an unknown capability is rejected by name", async () => {
      const { code, stderr } = await canI("gruops.list", "--group", "example.org");
      // 1 means that access is not granted.
      assert.equal(code, 2);
      assert.match(stderr, /there is no capability "gruops\.list"\n {2}Did you mean groups\.list\?/);
    });
  });

  describe("gatehouse sts debug", () => {
    async function debug(changes: object, ...args: string[]) {
      const file = path.join(caller.home, "token");
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer.url, sub: "ci", aud: caller.server.url, iat: now, exp: now + 600, ...changes };
      writeFileSync(file, await signOutside(key, claims));
      return await caller.run("sts", "debug", "--identity", "ci", "--token-file", file, ...args);
    }

    it("shows every check of a matching token", async () => {
      const { code, stdout } = await debug({});
      assert.equal(code, 0);
      assert.match(stdout, /^CHECK +OUTCOME +DETAIL\n/);
      for (const check of ["iss", "exp", "signature", "sub", "aud"])
        assert.match(stdout, new RegExp(`^${check} +passed`, "m"));
    });

    it("names the claim that does not match, and the required value", async () => {
      const { code, stdout, stderr } = await debug({ sub: "cd" });
      assert.equal(code, 1);
      assert.match(stdout, /^sub +failed +presented cd; the identity asks for ci$/m);
      assert.match(stderr, /the exchange would be denied: sub/);
      assert.equal(JSON.parse((await debug({ sub: "cd" }, "-o", "json")).stdout).allowed, false);
    });

    it("is for callers who may read the identity", async () => {
      const { uid } = await caller.json(
        "iam",
        "identities",
        "create",
        "nobody",
        "--parent",
        "example.org",
        "--service-principal",
        "INGESTER",
      );
      const environment = { GATEHOUSE_TOKEN: await caller.server.tokenOf(uid) };
      const file = path.join(caller.home, "token");
      const args = ["sts", "debug", "--identity", identity, "--token-file", file];
      const { code, stderr } = await caller.runWith(environment, ...args);
      assert.equal(code, 1);
      assert.match(stderr, /required capabilities: identity\.list at/);
    });
  });
});
