// Every case through every door, on every database: each as expected, and all alike.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonValue } from "@bufbuild/protobuf";
import { exampleName, findExample } from "../../src/openapi/examples.ts";
import { type Door, type DoorName, doorNames, openDoor } from "../harness/doors.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../harness/server.ts";
import { asV2 } from "../harness/v2.ts";
import { operations } from "../openapi/documents.ts";
import { furtherCalls } from "../openapi/further-calls.ts";
import { newDocumentWitness } from "../openapi/witness.ts";
import { newCanaries } from "./canaries.ts";
import { type Case, readCases } from "./case.ts";
import { runCase } from "./run.ts";
import { openStage, tickingClock } from "./stage.ts";

/** A server, and the doors to try on it. */
interface Place extends Pick<TestServerOptions, "database" | "settings"> {
  readonly name: string;
  readonly doors: readonly DoorName[];
  /** Whether the cases of v2beta1, and no others, are run under the names of v2. */
  readonly isV2?: boolean;
}

const oneOfEach = ["grpc", "grpc-web", "connect", "rest"] as const;
const places: readonly Place[] = [
  { name: "SQLite", database: "sqlite", doors: doorNames },
  { name: "PostgreSQL", database: "postgres", doors: oneOfEach },
  // v2 is another name of the same handlers: each door once, and each database.
  { name: "SQLite as v2", database: "sqlite", doors: ["grpc", "rest, slashes escaped"], isV2: true },
  { name: "PostgreSQL as v2", database: "postgres", doors: ["grpc-web", "connect"], isV2: true },
  { name: "SQLite without the short way of gRPC", database: "sqlite", settings: { fastPath: "off" }, doors: ["grpc"] },
];
const cases = readCases();
const hasV2 = ({ steps }: Case) => steps.some(({ method }) => method.includes(".v2beta1."));
const casesAt = ({ isV2 = false }: Place) => cases.filter((each) => !isV2 || hasV2(each));

/** Compares what goes over REST with the OpenAPI documents. */
const calls = new Map<string, Set<string>>();
const witness = newDocumentWitness(({ document, httpMethod, path }, example) => {
  const name = `${document} ${httpMethod} ${path}`;
  calls.set(name, (calls.get(name) ?? new Set()).add(JSON.stringify(example)));
});

/** What happened, by case and by the way it was run. */
const transcripts = new Map<string, Map<string, JsonValue[]>>(cases.map(({ name }) => [name, new Map()]));

for (const place of places) {
  describe(`API cases on ${place.name}`, () => {
    let server: TestServer;
    let doors: readonly Door[];
    const canaries = newCanaries();
    before(async () => {
      server = await startTestServer({ clock: tickingClock(), log: canaries.log, ...place });
      doors = place.doors.map((name) => {
        return canaries.watch(openDoor(name, server.url, place.isV2 ? asV2 : undefined, witness.see));
      });
    });
    after(async () => {
      for (const door of doors) door[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    });
    for (const each of casesAt(place)) {
      for (const [i, doorName] of place.doors.entries()) {
        const way = `${place.name}, ${doorName}`;
        it(`${each.name} over ${doorName}: ${each.title}`, () => run(each, server, doors[i]!, way));
      }
    }
    // The last of its tests: by then every secret of every case has passed.
    it("L1: no secret of any case is in the log, the metrics, the change log or an error", () =>
      canaries.check(server.url, server.server.database));
    it("L6: each call has its line in the log: who called what, by which door, and what came of it", () =>
      canaries.checkLines());
  });
}

describe("API cases", () => {
  after(stopPostgres);

  for (const document of ["v2beta1", "v2", "gatehouse"]) {
    it(`the cases came by every operation of the OpenAPI document ${document}`, () => {
      assert.deepEqual(witness.unseen(document), []);
    });
  }

  it("the example of every operation in the OpenAPI documents is one of the calls", () => {
    const unmade = operations.filter(({ document, httpMethod, path }) => {
      if (exampleName(httpMethod, path) in furtherCalls) return false;
      const example = JSON.stringify(findExample(httpMethod, path));
      return !calls.get(`${document} ${httpMethod} ${path}`)?.has(example);
    });
    assert.deepEqual(
      unmade.map(({ document, httpMethod, path }) => `${document} ${httpMethod} ${path}`),
      [],
    );
  });

  for (const each of cases) {
    it(`${each.name} comes to the same through every door and on every database`, () => {
      const runs = [...transcripts.get(each.name)!];
      const ways = places.filter((place) => casesAt(place).includes(each)).flatMap(({ doors }) => doors);
      assert.equal(runs.length, ways.length);
      const [[, first] = [], ...others] = runs;
      for (const [way, transcript] of others) assert.deepEqual(transcript, first, `${way} differs`);
    });
  }
});

async function run(each: Case, server: TestServer, door: Door, way: string): Promise<void> {
  const stage = await openStage(server, door, `${each.name}-${doorNames.indexOf(door.name)}`.replaceAll("/", "-"));
  transcripts.get(each.name)!.set(way, await runCase(each, stage, door));
}
