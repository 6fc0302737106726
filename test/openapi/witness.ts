// Compares what really goes over the wire with the documents: the requests that are granted, and every reply.
import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ValidateFunction } from "ajv";
import type { RestRequest, Witness } from "../harness/rest-door.ts";
import { documents, operations, type Placed } from "./documents.ts";
import { strictValidator } from "./strict.ts";

const validators = new Map<JsonObject, ValidateFunction>();
const errorSchema: JsonObject = { $ref: "#/components/schemas/Status" };

/** Refuses what is wrong item by item, and is granted nevertheless. */
const checksItems = "AdvisoryImportService_ImportAdvisories";

/** A witness that fails when a request that was granted, or any reply, is not what a document says. */
export function newDocumentWitness(): { readonly see: Witness; unseen(name: string): string[] } {
  const seen = new Set<Placed>();
  return {
    see(request, status, received) {
      const placed = find(request);
      if (status === 200 && placed) seen.add(placed);
      check(request, placed, status, received);
    },
    /** The operations of a document that were granted nothing. */
    unseen(name) {
      const unseen = operations.filter((placed) => placed.document === `/openapi/${name}.json` && !seen.has(placed));
      return unseen.map(({ httpMethod, path }) => `${httpMethod} ${path}`);
    },
  };
}

function check(request: RestRequest, placed: Placed | undefined, status: number, received: string): void {
  const at = `${request.method} ${request.target}`;
  if (!placed) assert.notEqual(status, 200, `${at} is in no document`);
  else if (status === 200) checkGranted(placed, request, received, at);
  else validate(placed, errorSchema, JSON.parse(received), at);
}

function checkGranted(placed: Placed, { target, body }: RestRequest, received: string, at: string): void {
  const { operationId, requestBody, responses } = placed.operation;
  checkQuery(placed, target.split("?")[1] ?? "", at);
  if (body !== undefined && operationId !== checksItems)
    validate(placed, requestBody!.content["application/json"].schema, body, at);
  const schema = responses["200"].content?.["application/json"].schema;
  if (schema) validate(placed, schema, JSON.parse(received), at);
  else assert.equal(received, "", at);
}

/** The operation of a request: of those that fit the one whose path says most itself. */
function find({ method, target }: RestRequest): Placed | undefined {
  const path = target.replace(/\?.*/s, "");
  const fits = operations.filter((each) => each.httpMethod === method && patternOf(each.path).test(path));
  const lengthOf = (placed: Placed) => placed.path.replace(/\{[^}]*\}/g, "").length;
  return fits.sort((a, b) => lengthOf(b) - lengthOf(a))[0];
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{[^}]*\}/g, "[^/]+")}$`);
}

function checkQuery({ operation }: Placed, query: string, at: string): void {
  const given = new Set(new URLSearchParams(query).keys());
  const inQuery = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  for (const { name, required } of inQuery) if (!given.delete(name)) assert.ok(!required, `${at}: ${name}`);
  assert.deepEqual([...given], [], at);
}

function validate({ document }: Placed, schema: JsonObject, json: unknown, at: string): void {
  let validator = validators.get(schema);
  if (!validator) {
    validator = strictValidator(schema, documents.get(document)!.components.schemas);
    validators.set(schema, validator);
  }
  assert.ok(validator(json), `${at}: ${JSON.stringify(validator.errors)}\n${JSON.stringify(json)}`);
}
