// Every case through every door, on every database: each as expected, and all alike.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonValue } from "@bufbuild/protobuf";
import { type Door, doorNames, openDoor } from "../harness/doors.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { type DatabaseKind, startTestServer, type TestServer } from "../harness/server.ts";
import { type Case, readCases } from "./case.ts";
import { runCase } from "./run.ts";
import { openStage, tickingClock } from "./stage.ts";

const databases: readonly DatabaseKind[] = ["sqlite", "postgres"];
const cases = readCases();

/** What happened, by case and by the way it was run. */
const transcripts = new Map<string, Map<string, JsonValue[]>>(cases.map(({ name }) => [name, new Map()]));

for (const database of databases) {
  describe(`API cases on ${database}`, () => {
    let server: TestServer;
    let doors: readonly Door[];
    before(async () => {
      server = await startTestServer({ database, clock: tickingClock() });
      doors = doorNames.map((name) => openDoor(name, server.url));
    });
    after(async () => {
      for (const door of doors) door[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    });
    for (const each of cases) {
      for (const [i, doorName] of doorNames.entries()) {
        it(`${each.name} over ${doorName}: ${each.title}`, () => run(each, server, doors[i]!, `${database}, ${doorName}`));
      }
    }
  });
}

describe("API cases", () => {
  after(stopPostgres);
  for (const { name } of cases) {
    it(`${name} comes to the same through every door and on every database`, () => {
      const runs = [...transcripts.get(name)!];
      assert.equal(runs.length, databases.length * doorNames.length);
      const [[, first] = [], ...others] = runs;
      for (const [way, transcript] of others) assert.deepEqual(transcript, first, `${way} differs`);
    });
  }
});

async function run(each: Case, server: TestServer, door: Door, way: string): Promise<void> {
  const stage = await openStage(server, door, `${each.name}-${doorNames.indexOf(door.name)}`.replaceAll("/", "-"));
  transcripts.get(each.name)!.set(way, await runCase(each, stage, door));
}
