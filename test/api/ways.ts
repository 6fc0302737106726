// Runs every case on servers and through transports, which all must give the same results.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonValue } from "@bufbuild/protobuf";
import { type ApiClient, openApiClient, type TransportName, transportNames } from "../harness/api-clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../harness/server.ts";
import { asV2 } from "../harness/v2.ts";
import { newCanaries } from "./canaries.ts";
import { type Case, readCases } from "./case.ts";
import { runCase } from "./run.ts";
import { openStage, tickingClock } from "./stage.ts";

/** A server, and the transports to try on it. */
export interface Place extends Pick<TestServerOptions, "database" | "settings" | "forwardsWrites"> {
  readonly name: string;
  readonly apiClients: readonly TransportName[];
  /** Whether the cases of v2beta1, and no others, are run under the names of v2. */
  readonly isV2?: boolean;
}

const cases = readCases();
const hasV2 = ({ steps }: Case) => steps.some(({ method }) => method.includes(".v2beta1."));
const casesAt = ({ isV2 = false }: Place) => cases.filter((each) => !isV2 || hasV2(each));

/** Declares the tests of every case at these places. `see` gets each call over REST. */
export function testCasesAt(places: readonly Place[], see?: Parameters<typeof openApiClient>[3]): void {
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
          return canaries.watch(openApiClient(name, server.url, place.isV2 ? asV2 : undefined, see));
        });
      });
      after(async () => {
        for (const apiClient of apiClients) apiClient[Symbol.dispose]();
        await server[Symbol.asyncDispose]();
      });
      for (const each of casesAt(place)) {
        for (const [i, transportName] of place.apiClients.entries()) {
          it(`${each.name} over ${transportName}: ${each.title}`, async () => {
            const transcript = await run(each, server, apiClients[i]!);
            transcripts.get(each.name)!.set(`${place.name}, ${transportName}`, transcript);
          });
        }
      }
      // The last of its tests: by then every secret of every case has passed.
      it("L1: no secret of any case is in the log, the metrics, the change log or an error", () =>
        canaries.check(server.url, server.server.database));
      it("L6: each call has one line in the log, with caller, method, transport and result", () =>
        canaries.checkLines(apiClients.reduce((sum, apiClient) => sum + apiClient.repetitions(), 0)));
    });
  }

  describe("API cases", () => {
    after(stopPostgres);

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
}

async function run(each: Case, server: TestServer, apiClient: ApiClient): Promise<JsonValue[]> {
  const name = `${each.name}-${transportNames.indexOf(apiClient.name)}`.replaceAll("/", "-");
  return await runCase(each, await openStage(server, apiClient, name), apiClient);
}
