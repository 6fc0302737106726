// An apply whose server or client is killed in the middle.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { newMigratedDatabase } from "../harness/migrated.ts";
import { freePort, stopPostgres } from "../harness/postgres.ts";
import { createInstallation } from "../history/installation.ts";
import { documentsOf } from "../services/apply/documents.ts";
import { largeOrganization } from "../services/apply/generated.ts";
import { homeEnvironment } from "./caller.ts";
import { dataDirectory, type Running, run, start } from "./process.ts";

after(stopPostgres);

/** When the server and the client are killed, in milliseconds after the client has sent its request. */
const moments = [50, 300, 800, 1500];

const resources = largeOrganization("large", { groups: 300, roles: 10, identities: 900, repos: 900, bindings: 1_500 });

for (const database of ["sqlite", "postgres"] as const) {
  describe(`an apply that is killed in the middle, on ${database}`, () => {
    const opened = new AsyncDisposableStack();
    after(() => opened.disposeAsync());
    let settings: Record<string, string>;
    let environment: Record<string, string>;
    let file: string;
    let server: Running;
    before(async () => {
      const folder = opened.use(dataDirectory());
      file = path.join(folder.path, "large.yaml");
      writeFileSync(file, documentsOf(resources));
      const listen = `127.0.0.1:${await freePort()}`;
      const databaseUrl = database === "postgres" ? await newMigratedDatabase() : "";
      settings = { dataDir: folder.path, listen, baseUrl: `http://${listen}`, eventDelivery: "off", logLevel: "info" };
      if (databaseUrl !== "") settings.databaseUrl = databaseUrl;
      const { ownerToken } = await createInstallation(settings);
      environment = { ...homeEnvironment(folder.path), GATEHOUSE_URL: settings.baseUrl!, GATEHOUSE_TOKEN: ownerToken };
    });

    async function serve(): Promise<Running> {
      const flags = Object.entries(settings).flatMap(([name, value]) => [
        `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
        value,
      ]);
      const running = start(["serve", ...flags]);
      opened.defer(() => void running.child.kill("SIGKILL"));
      await running.said(/listens on/);
      return running;
    }

    /** Returns how many resources are stored: all of them if there is no difference. */
    async function storedCount(): Promise<number> {
      const { code, stdout, stderr } = await run(["diff", "-f", file, "-o", "json"], environment);
      assert.ok(code === 0 || code === 1, stderr);
      const { changes = [], unchangedCount = 0 } = JSON.parse(stdout);
      assert.equal(changes.length + unchangedCount, resources.length);
      return unchangedCount;
    }

    /** The command has read the files when it looks for the organization. */
    async function startApply(nth: number): Promise<Running> {
      const client = start(["apply", "-f", file, "--yes"], environment);
      await server.logged(/GroupsService\/ListGroups/, nth);
      return client;
    }

    it("has written everything or nothing when the server ends", async () => {
      let interrupted = 0;
      for (const moment of moments) {
        server = await serve();
        const client = await startApply(1);
        await pause(moment);
        server.child.kill("SIGKILL");
        const { code } = await client.finished;
        server = await serve();
        const stored = await storedCount();
        assert.ok(stored === 0 || stored === resources.length, `${stored} of ${resources.length} are stored`);
        if (code === 0) assert.equal(stored, resources.length, "it was confirmed");
        if (stored === 0) interrupted++;
        server.child.kill("SIGKILL");
        await server.finished;
        if (stored > 0) break;
      }
      assert.ok(interrupted > 0, "no apply was interrupted");
    });

    it("has written everything or nothing when the client ends, and a repeated apply completes it", async () => {
      server = await serve();
      const client = await startApply(1);
      await pause(300);
      client.child.kill("SIGKILL");
      await client.finished;
      const stored = await storedCount();
      assert.ok(stored === 0 || stored === resources.length, `${stored} of ${resources.length} are stored`);
      const again = await run(["apply", "-f", file, "--yes"], environment);
      assert.equal(again.code, 0, again.stderr);
      assert.equal(await storedCount(), resources.length);
    });
  });
}
