// An import of an organization that ends in the middle: with its client, or with the server.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import Database from "better-sqlite3";
import { createGroup } from "../../../src/services/iam/bootstrap.ts";
import { freePort } from "../../harness/postgres.ts";
import { createInstallation } from "../../history/installation.ts";
import { arrange } from "../../security/tree.ts";
import { type Caller, startCaller } from "../caller.ts";
import { dataDirectory, flagsOf, type Running, run, serveWith, start } from "../process.ts";

const groupCount = 3000;

describe("an import of an organization that is killed in the middle", () => {
  const opened = new AsyncDisposableStack();
  after(() => opened.disposeAsync());
  let source: Caller;
  let file: string;
  let settings: Record<string, string>;
  let environment: Record<string, string>;
  before(async () => {
    source = opened.use(await startCaller());
    const { server, home } = source;
    await arrange(server, async (tx) => {
      for (let i = 0; i < groupCount; i++) await createGroup(tx, server.groupUid, `group ${i}`, "");
    });
    file = path.join(home, "example.org.ndjson");
    const { code, stderr } = await source.run("iam", "organizations", "export", server.groupUid, file);
    assert.equal(code, 0, stderr);
    const folder = opened.use(dataDirectory());
    const listen = `127.0.0.1:${await freePort()}`;
    settings = { dataDir: folder.path, listen, baseUrl: `http://${listen}`, eventDelivery: "off", logLevel: "warn" };
    const { ownerToken } = await createInstallation(settings);
    environment = { ...source.environment, GATEHOUSE_URL: settings.baseUrl!, GATEHOUSE_TOKEN: ownerToken };
  });

  async function serve(): Promise<Running> {
    const running = await serveWith(settings);
    opened.defer(() => void running.child.kill("SIGKILL"));
    return running;
  }

  /** How many groups of the organization are stored. */
  function stored(): number {
    using opened = new DisposableStack();
    const database = new Database(path.join(settings.dataDir!, "gatehouse.db"), { readonly: true });
    opened.defer(() => void database.close());
    const count = database.prepare("SELECT count(*) FROM groups WHERE uid LIKE ? || '/%'").pluck();
    return count.get(source.server.groupUid) as number;
  }

  async function untilStored(atLeast: number): Promise<void> {
    while (stored() < atLeast) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const importing = (...more: string[]) => start(["iam", "organizations", "import", file, ...more], environment);

  it("a repeated import completes the interrupted one", async () => {
    let server = await serve();
    const first = importing();
    await untilStored(500);
    first.child.kill("SIGKILL");
    await first.finished;
    const afterFirst = stored();
    assert.ok(afterFirst < groupCount, "the import was complete before it was killed");

    const second = importing("--existing");
    await untilStored(afterFirst + 500);
    server.child.kill("SIGKILL");
    await server.finished;
    assert.ok(stored() < groupCount, "the import was complete before the server was killed");
    server = await serve();
    const { code, stdout, stderr } = await second.finished;
    assert.equal(code, 0, stdout + stderr);
    assert.match(stderr, /the next attempt is in/);

    const compared = await run(["iam", "organizations", "import", file, "--dry-run"], environment);
    assert.match(compared.stdout, /^would be created: nothing\nwould be updated: nothing$/m);
    assert.match(compared.stdout, /^would be rejected: nothing$/m);
    assert.equal(stored(), groupCount);
    server.child.kill("SIGTERM");
    await server.finished;
    const checked = await run(["db", "check", ...flagsOf({ dataDir: settings.dataDir! })]);
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  });
});
