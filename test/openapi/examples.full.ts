// Examples: as the document says, and one for each operation. test/api makes most of the calls; this makes the rest.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { exampleName, findExample } from "../../src/openapi/examples.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { documents, operations, type Placed } from "./documents.ts";
import { isEmptyList } from "./example-calls.ts";
import { furtherCalls, inServer } from "./further-calls.ts";
import { strictValidator } from "./strict.ts";

const titleOf = ({ document, httpMethod, path }: Placed) => `${document}: ${httpMethod} ${path}`;

function assertValid({ document }: Placed, schema: JsonObject, value: JsonValue): void {
  const validate = strictValidator(schema, documents.get(document)!.components.schemas);
  assert.ok(validate(value), JSON.stringify([validate.errors, value]));
}

function receivedExample({ operation }: Placed): JsonValue | undefined {
  return operation.responses["200"].content?.["application/json"].example;
}

describe("examples", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const placed of operations) {
    const { httpMethod, path, operation } = placed;
    const example = findExample(httpMethod, path);

    it(`${titleOf(placed)} has an example of what it needs, valid by its schemas`, () => {
      assert.ok(
        example,
        "no example: add an API case that calls it with success, and run: npx node test/openapi/write-examples.ts",
      );
      const { parameters = [], requestBody, responses } = operation;
      for (const { name, schema, required, ...parameter } of parameters) {
        if (required) assert.ok("example" in parameter, name);
        if ("example" in parameter) assertValid(placed, schema, parameter.example as JsonValue);
      }
      const sent = requestBody?.content["application/json"];
      if (requestBody?.required) assert.ok(sent!.example, "a body");
      if (sent?.example) assertValid(placed, sent.schema, sent.example);
      const received = responses["200"].content?.["application/json"];
      if (received?.example) assertValid(placed, received.schema, received.example);
      else assert.ok(!received || exampleName(httpMethod, path) in furtherCalls, "a reply");
    });
  }

  /** Background work fills these: it compares packages with advisories, and stores what a registry notifies of. */
  const filledLater: readonly string[] = [
    "/openapi/gatehouse.json: GET /gatehouse/registry/v1/affectedImages",
    "/openapi/gatehouse.json: GET /gatehouse/registry/v1/images/{repoUid}:listFindings",
    "/openapi/gatehouse.json: GET /gatehouse/registry/v1/images/{repoUid}:listUses",
    "/openapi/gatehouse.json: GET /gatehouse/registry/v1/unusedImages",
    // The images that it lists the packages of are messages, which no query has.
    "/openapi/v1.json: GET /registry/v1/repos/{repoId}/manifestmetdata",
  ];

  it("each operation that lists or finds something has an example with an entry, unless background work fills its list", () => {
    const lists = operations.filter(({ operation }) =>
      /_(List|Find|Search|Query|BatchQuery|ChangedSince)/.test(operation.operationId),
    );
    const examples = lists.map((placed) => ({ title: titleOf(placed), example: receivedExample(placed) }));
    const empty = examples.filter(({ example }) => example === undefined || isEmptyList(example));
    assert.deepEqual(
      empty.map(({ title }) => title),
      filledLater,
    );
    assert.ok(lists.length > 50, String(lists.length));
  });

  for (const [name, { status, ...example }] of Object.entries(furtherCalls)) {
    it(`${name} responds its example with ${status}`, async () => {
      const [httpMethod, path] = name.split(" ") as [string, string];
      assert.deepEqual({ ...findExample(httpMethod, path), reply: null }, { ...example, reply: null });
      const { parameters = {}, body } = JSON.parse(
        inServer(JSON.stringify(example), server.groupUid, server.config.baseUrl),
      );
      const query = new URLSearchParams();
      let target = path;
      for (const [key, value] of Object.entries<string | string[]>(parameters)) {
        if (path.includes(`{${key}}`)) target = target.replace(`{${key}}`, encodeURIComponent(String(value)));
        else for (const item of [value].flat()) query.append(key, item);
      }
      const reply = await rest(server.url, server.ownerToken, httpMethod, `${target}?${query}`, body);
      assert.equal(reply.status, status, JSON.stringify(reply.body));
    });
  }
});
