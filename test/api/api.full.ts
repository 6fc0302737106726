// Every case through every transport, and on every database: each as expected, and all alike. Together they make every operation of the
// OpenAPI documents.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exampleName, findExample } from "../../src/openapi/examples.ts";
import { transportNames } from "../harness/api-clients.ts";
import { operations } from "../openapi/documents.ts";
import { furtherCalls } from "../openapi/further-calls.ts";
import { newDocumentWitness } from "../openapi/witness.ts";
import { type Place, testCasesAt } from "./ways.ts";

/** Every transport on SQLite. PostgreSQL, of which transports know nothing, with one binary transport and with JSON. */
const places: readonly Place[] = [
  { name: "SQLite", database: "sqlite", apiClients: transportNames },
  { name: "PostgreSQL", database: "postgres", apiClients: ["grpc", "rest", "rest, each write repeated by its key"] },
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

/** Compares what goes over REST with the OpenAPI documents. */
const calls = new Map<string, Set<string>>();
const witness = newDocumentWitness(({ document, httpMethod, path }, example) => {
  const name = `${document} ${httpMethod} ${path}`;
  calls.set(name, (calls.get(name) ?? new Set()).add(JSON.stringify(example)));
});

testCasesAt(places, witness.see);

describe("OpenAPI documents", () => {
  for (const document of ["v2beta1", "v2", "gatehouse"]) {
    it(`the cases call every operation of the OpenAPI document ${document}`, () => {
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
});
