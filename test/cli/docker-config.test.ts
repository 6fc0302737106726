// The file of container tools is theirs: what cannot be read is left as it is.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { saveLogin } from "../../src/cli/auth/docker-config.ts";
import type { Shell } from "../../src/cli/shell.ts";
import { type Caller, startCaller } from "./caller.ts";

let caller: Caller;
let file: string;
describe("the configuration of Docker", () => {
  before(async () => {
    caller = await startCaller();
    await caller.run("config", "set", "platform.registry", "registry.test:5000");
    file = path.join(caller.home, ".docker", "config.json");
    mkdirSync(path.dirname(file));
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  const pullToken = ["auth", "pull-token", "create", "--parent", "example.org", "--name", "not-saved", "--save"];

  /** Every command that would write the file fails, and leaves no identity whose token is lost. */
  async function refuse(reason: RegExp): Promise<void> {
    for (const command of [pullToken, ["auth", "configure-docker", "--helper-dir", caller.home]]) {
      const { code, stderr } = await caller.run(...command);
      assert.equal(code, 1);
      assert.match(stderr, reason);
    }
    assert.deepEqual((await caller.json("iam", "identities", "list", "--name", "not-saved")).items, []);
  }

  it("an unreadable configuration of Docker is reported", async () => {
    symlinkSync("config.json", file);
    await refuse(/ELOOP/);
    assert.equal(readlinkSync(file), "config.json");
    rmSync(file);
  });

  it("a configuration of Docker that is not JSON is reported", async () => {
    writeFileSync(file, "{");
    await refuse(/config\.json is not JSON; nothing was changed/);
    assert.equal(readFileSync(file, "utf8"), "{");
  });

  it("a saved login replaces the credential helper of its host, and leaves those of others", () => {
    writeFileSync(file, JSON.stringify({ credHelpers: { "registry.test": "gatehouse", "other.test": "other" } }));
    saveLogin(
      { environment: { DOCKER_CONFIG: path.dirname(file) } } as unknown as Shell,
      "registry.test",
      "user",
      "secret",
    );
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), {
      auths: { "registry.test": { auth: Buffer.from("user:secret").toString("base64") } },
      credHelpers: { "other.test": "other" },
    });
  });
});
