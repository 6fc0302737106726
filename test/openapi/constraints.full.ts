// Tests that the server enforces the constraints of its OpenAPI documents: each constraint of each parameter and body is broken once, in
// the example of its operation.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonValue } from "@bufbuild/protobuf";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { breaches } from "./breaches.ts";
import { documents, operations, type Placed } from "./documents.ts";
import { inServer } from "./further-calls.ts";

/** Reject invalid items one by one, with a response of 200. */
const checksItems: ReadonlySet<string> = new Set([
  "AdvisoryRecordsService_ImportAdvisoryRecords",
  "OrganizationImportService_ImportResources",
]);
/** An operation that is not offered fails before any check. */
const isOffered = ({ operation }: Placed) => !operation.description.includes("Not offered by this server");

interface Request {
  readonly parameters: Readonly<Record<string, JsonValue>>;
  readonly body: JsonValue | undefined;
}

describe("constraints of the OpenAPI documents", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  it("those of v2 are those of v2beta1 in every part, so breaking one of the two is enough", () => {
    const { paths, components } = documents.get("/openapi/v2beta1.json")!;
    const renamed = JSON.parse(JSON.stringify({ paths, components }).replaceAll("v2beta1", "v2"));
    const v2 = documents.get("/openapi/v2.json")!;
    assert.deepEqual({ paths: v2.paths, components: v2.components }, renamed);
  });

  for (const placed of operations.filter(isOffered)) {
    if (placed.document === "/openapi/v2.json") continue;
    const { document, httpMethod, path } = placed;
    it(`${document}: ${httpMethod} ${path} rejects what its document forbids`, async () => {
      const taken: string[] = [];
      for (const [what, request] of brokenRequests(placed)) {
        const status = await send(placed, request);
        if (!isRefusal(placed, what, status)) taken.push(`${what}: ${status}`);
      }
      assert.deepEqual(taken, []);
    });
  }

  async function send({ httpMethod, path, operation }: Placed, { parameters, body }: Request): Promise<number> {
    const query = new URLSearchParams();
    let target = path;
    for (const { name, in: place } of operation.parameters ?? []) {
      const value = parameters[name];
      if (value === undefined) continue;
      if (place === "path") target = target.replace(`{${name}}`, encodeURIComponent(String(value)));
      else for (const item of [value].flat()) query.append(name, String(item));
    }
    const local = (text: string) => inServer(text, server.groupUid, server.config.baseUrl);
    const reply = await fetch(server.url + local(`${target}?${query}`), {
      method: httpMethod,
      headers: { authorization: `Bearer ${server.ownerToken}`, "content-type": "application/json" },
      ...(body !== undefined && { body: local(JSON.stringify(body)) }),
    });
    await reply.arrayBuffer();
    return reply.status;
  }
});

/** Whether a status refuses what is broken; most is found before anything else. */
function isRefusal({ httpMethod, operation }: Placed, what: string, status: number): boolean {
  if (status === 400) return true;
  // A path that is not a route, a query that is longer than headers may be.
  if (status === 404 && what.startsWith("path ")) return true;
  if (status === 431 && what.endsWith("too many items")) return true;
  // An update is checked as a whole once its resource is found.
  if (status === 404 && ["PATCH", "PUT"].includes(httpMethod) && /too many (items|entries)$/.test(what)) return true;
  // The credential comes first.
  return status === 401 && operation.operationId.startsWith("SecurityTokenService_ExchangeRefreshToken");
}

/** Requests that break one constraint each, with what they break. */
function* brokenRequests({ document, operation }: Placed): Iterable<readonly [string, Request]> {
  const { schemas } = documents.get(document)!.components;
  const { parameters = [], requestBody } = operation;
  const given = parameters.filter((parameter) => "example" in parameter);
  const values = Object.fromEntries(given.map(({ name, example }) => [name, example!]));
  const sent = requestBody?.content["application/json"];
  const body = sent && (sent.example ?? {});
  for (const { name, in: place, schema, required } of parameters) {
    for (const [what, value] of breaches(schema, schemas))
      if (isText(value, place) && !what.endsWith("no text"))
        yield [`${place} ${name} ${what}`, { parameters: { ...values, [name]: value }, body }];
    if (required && place === "query") {
      const { [name]: _, ...others } = values;
      yield [`${place} ${name} left out`, { parameters: others, body }];
    }
  }
  // A mask passes over what it does not name.
  const { updateMask: _, ...unmasked } = values;
  if (!sent || checksItems.has(operation.operationId)) return;
  for (const [what, value] of breaches(sent.schema, schemas, unmaskedBody(sent.example)))
    yield [`body ${what}`, { parameters: unmasked, body: value }];
}

function unmaskedBody(example: JsonValue | undefined): JsonValue | undefined {
  if (typeof example !== "object" || example === null || Array.isArray(example)) return example;
  const { updateMask: _, ...unmasked } = example;
  return unmasked;
}

/** Whether a parameter can hold the value as text that still breaks its schema; an empty path variable is another path. */
function isText(value: JsonValue, place: string): boolean {
  const items = [value].flat();
  return items.every((item) => typeof item !== "object" && !(place === "path" && item === ""));
}
