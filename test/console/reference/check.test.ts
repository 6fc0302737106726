// The form of the API reference checks requests by the schemas that the server enforces (test/openapi/constraints.full.ts).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OpenApi, Schema } from "../../../console/src/reference/documents.ts";
import { check } from "../../../console/src/reference/form/check.ts";
import { breaches } from "../../openapi/breaches.ts";
import { documents, operations } from "../../openapi/documents.ts";

describe("the check of a request in the API reference", () => {
  it("finds nothing wrong with the example of any operation", () => {
    for (const { document, path, operation } of operations) {
      const sent = operation.requestBody?.content["application/json"];
      const found = sent?.example === undefined ? [] : check(openApi(document), sent.schema as Schema, sent.example);
      assert.deepEqual(found, [], path);
      for (const { name, schema, example } of operation.parameters ?? [])
        assert.deepEqual(check(openApi(document), schema as Schema, example), [], `${path} ${name}`);
    }
  });

  it("finds each constraint of each body that is broken once", () => {
    let count = 0;
    for (const { document, path, operation } of operations) {
      const sent = operation.requestBody?.content["application/json"];
      if (!sent) continue;
      const { schemas } = documents.get(document)!.components;
      for (const [what, value] of breaches(sent.schema, schemas, sent.example)) {
        count++;
        assert.notDeepEqual(check(openApi(document), sent.schema as Schema, value), [], `${path}: ${what}`);
      }
    }
    assert.ok(count > 1000, String(count));
  });

  it("names the path and the rule of what is wrong", () => {
    const document = openApi("/openapi/v2beta1.json");
    const schema = { $ref: "#/components/schemas/IdentityInput" };
    const value = { name: "No!", claimMatch: { claims: { ref: 1 } }, staticKeys: [], foo: 1 };
    assert.deepEqual(
      check(document, schema, value).map(({ path, rule }) => [path, rule]),
      [
        ["name", "pattern"],
        ["claimMatch.claims.ref", "type"],
        ["staticKeys", "type"],
        ["foo", "unknown"],
      ],
    );
  });
});

function openApi(name: string): OpenApi {
  return documents.get(name) as unknown as OpenApi;
}
