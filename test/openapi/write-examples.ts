// Writes src/openapi/examples.json: of all granted calls of the API cases, for each operation the one that shows most in least text.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { type Example, exampleName } from "../../src/openapi/examples.ts";
import { readCases } from "../api/case.ts";
import { runCase } from "../api/run.ts";
import { openStage, tickingClock } from "../api/stage.ts";
import { openApiClient } from "../harness/api-clients.ts";
import { startTestServer } from "../harness/server.ts";
import { poverty } from "./example-calls.ts";
import { furtherCalls } from "./further-calls.ts";
import { newDocumentWitness } from "./witness.ts";

const file = path.resolve(import.meta.dirname, "../../src/openapi/examples.json");
const found = new Map<string, Example>();
const witness = newDocumentWitness(({ httpMethod, path }, example) => {
  const name = exampleName(httpMethod, path);
  const known = found.get(name);
  if (!known || poverty(example) < poverty(known)) found.set(name, example);
});

await using server = await startTestServer({ clock: tickingClock() });
using apiClient = openApiClient("rest, slashes escaped", server.url, undefined, witness.see);
for (const each of readCases())
  await runCase(each, await openStage(server, apiClient, `${each.name}-0`.replaceAll("/", "-")), apiClient);

for (const [name, { status: _, ...example }] of Object.entries(furtherCalls)) found.set(name, example);
const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
