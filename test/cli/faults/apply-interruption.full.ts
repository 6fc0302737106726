// An apply whose server or client is killed in the middle.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { databases } from "../../harness/databases.ts";
import { newMigratedDatabase } from "../../harness/migrated.ts";
import { freePort, stopPostgres } from "../../harness/postgres.ts";
import { createInstallation } from "../../history/installation.ts";
import { documentsOf } from "../../services/apply/documents.ts";
import { largeOrganization } from "../../services/apply/generated.ts";
import { homeEnvironment } from "../caller.ts";
import { dataDirectory, type Running, run, serveWith, start } from "../process.ts";

after(stopPostgres);

/**
 * The time at which the server is killed, in milliseconds after the client has read its files: from before any machine has applied them,
 * to after a slow one has.
 */
const moments = [0, 50, 300, 1000, 0, 0];

const size = { groups: 75, roles: 10, identities: 225, repos: 225, bindings: 375 };
const count = largeOrganization("any", size).length;

for (const database of databases) {
  describe(`an apply that is killed in the middle, on ${database}`, () => {
    const opened = new AsyncDisposableStack();
    after(() => opened.disposeAsync());
    let settings: Record<string, string>;
    let environment: Record<string, string>;
    let folder: string;
    let server: Running;
    /** The number of commands that have looked for an organization on this server. */
    let lookups = 0;
    before(async () => {
      folder = opened.use(dataDirectory()).path;
      const listen = `127.0.0.1:${await freePort()}`;
      const databaseUrl = database === "postgres" ? await newMigratedDatabase() : "";
      settings = { dataDir: folder, listen, baseUrl: `http://${listen}`, eventDelivery: "off", logLevel: "info" };
      if (databaseUrl !== "") settings.databaseUrl = databaseUrl;
      const { ownerToken } = await createInstallation(settings);
      environment = { ...homeEnvironment(folder), GATEHOUSE_URL: settings.baseUrl!, GATEHOUSE_TOKEN: ownerToken };
    });

    async function serve(): Promise<void> {
      const running = await serveWith(settings);
      opened.defer(() => void running.child.kill("SIGKILL"));
      server = running;
      lookups = 0;
    }

    async function kill({ child, finished }: Running): Promise<void> {
      child.kill("SIGKILL");
      await finished;
    }

    /** Writes a file with a large organization of this name. */
    function newFile(organization: string): string {
      const file = path.join(folder, `${organization}.yaml`);
      writeFileSync(file, documentsOf(largeOrganization(organization, size)));
      return file;
    }

    /** Returns how many resources of a file are stored. */
    async function storedCount(file: string): Promise<number> {
      lookups++;
      const { code, stdout, stderr } = await run(["diff", "-f", file, "-o", "json"], environment);
      assert.ok(code === 0 || code === 1, stderr);
      const { changes = [], unchangedCount = 0 } = JSON.parse(stdout);
      assert.equal(changes.length + unchangedCount, count);
      return unchangedCount;
    }

    /** Starts an apply. The command has read the file when it looks for the organization. */
    async function startApply(file: string): Promise<Running> {
      const client = start(["apply", "-f", file, "--yes"], environment);
      await server.logged(/GroupsService\/ListGroups/, ++lookups);
      return client;
    }

    it("has written everything or nothing when the server ends", async () => {
      let file = newFile("server-ends");
      let interrupted = 0;
      await serve();
      for (const [i, moment] of moments.entries()) {
        const client = await startApply(file);
        await pause(moment);
        await kill(server);
        const { code } = await client.finished;
        await serve();
        const stored = await storedCount(file);
        assert.ok(stored === 0 || stored === count, `${stored} of ${count} are stored`);
        if (code === 0) assert.equal(stored, count, "it was confirmed");
        if (stored === 0) interrupted++;
        if (stored > 0 && interrupted > 0) break;
        if (stored > 0) file = newFile(`server-ends-${i}`);
      }
      await kill(server);
      assert.ok(interrupted > 0, "no apply was interrupted");
    });

    it("has written everything or nothing when the client ends, and a repeated apply completes it", async () => {
      const file = newFile("client-ends");
      await serve();
      assert.equal(await storedCount(file), 0);
      await kill(await startApply(file));
      const stored = await storedCount(file);
      assert.ok(stored === 0 || stored === count, `${stored} of ${count} are stored`);
      const again = await run(["apply", "-f", file, "--yes"], environment);
      assert.equal(again.code, 0, again.stderr);
      assert.equal(await storedCount(file), count);
    });
  });
}
