// Every case through every transport, and on every database: each as expected, and all alike.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonValue } from "@bufbuild/protobuf";
import { exampleName, findExample } from "../../src/openapi/examples.ts";
import { type ApiClient, openApiClient, type TransportName, transportNames } from "../harness/api-clients.ts";
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

/** A server, and the transports to try on it. */
interface Place extends Pick<TestServerOptions, "database" | "settings" | "forwardsWrites"> {
  readonly name: string;
  readonly apiClients: readonly TransportName[];
  /** Whether the cases of v2beta1, and no others, are run under the names of v2. */
  readonly isV2?: boolean;
}

/** Every transport on SQLite. PostgreSQL, of which transports know nothing, with one binary transport and with JSON. */
const places: readonly Place[] = [
  { name: "SQLite", database: "sqlite", apiClients: transportNames },
  { name: "PostgreSQL", database: "postgres", apiClients: ["grpc", "rest"] },
  // v2 is another name of the same handlers.
  {
    name: "SQLite as v2",
    database: "sqlite",
    isV2: true,
    apiClients: ["grpc", "grpc-web", "connect", "rest, slashes escaped"],
  },
  {
    name: "SQLite in a worker that forwards writes",
    database: "sqlite",
    forwardsWrites: true,
    apiClients: ["grpc"],
  },
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

/** The transcripts by case, and by the way the case was run. */
const transcripts = new Map<string, Map<string, JsonValue[]>>(cases.map(({ name }) => [name, new Map()]));

for (const place of places) {
  describe(`API cases on ${place.name}`, () => {
    let server: TestServer;
    let apiClients: readonly ApiClient[];
    const canaries = newCanaries();
    before(async () => {
      server = await startTestServer({ clock: tickingClock(), log: canaries.log, ...place });
      apiClients = place.apiClients.map((name) => {
        return canaries.watch(openApiClient(name, server.url, place.isV2 ? asV2 : undefined, witness.see));
      });
    });
    after(async () => {
      for (const apiClient of apiClients) apiClient[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    });
    for (const each of casesAt(place)) {
      for (const [i, transportName] of place.apiClients.entries()) {
        const way = `${place.name}, ${transportName}`;
        it(`${each.name} over ${transportName}: ${each.title}`, () => run(each, server, apiClients[i]!, way));
      }
    }
    // The last of its tests: by then every secret of every case has passed.
    it("L1: no secret of any case is in the log, the metrics, the change log or an error", () =>
      canaries.check(server.url, server.server.database));
    it("L6: each call has one line in the log, with caller, method, transport and result", () => canaries.checkLines());
  });
}

describe("API cases", () => {
  after(stopPostgres);

  for (const document of ["v2beta1", "v2", "gatehouse"]) {
    it(`the cases came by every operation of the OpenAPI document ${document}`, () => {
      const further = new Set(Object.keys(furtherCalls));
      assert.deepEqual(
        witness.unseen(document).filter((operation) => !further.has(operation)),
        [],
      );
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
    it(`${each.name} has the same results through every transport and on every database`, () => {
      const runs = [...transcripts.get(each.name)!];
      const ways = places.filter((place) => casesAt(place).includes(each)).flatMap(({ apiClients }) => apiClients);
      assert.equal(runs.length, ways.length);
      const [[, first] = [], ...others] = runs;
      for (const [way, transcript] of others) assert.deepEqual(transcript, first, `${way} differs`);
    });
  }
});

async function run(each: Case, server: TestServer, apiClient: ApiClient, way: string): Promise<void> {
  const stage = await openStage(
    server,
    apiClient,
    `${each.name}-${transportNames.indexOf(apiClient.name)}`.replaceAll("/", "-"),
  );
  transcripts.get(each.name)!.set(way, await runCase(each, stage, apiClient));
}
