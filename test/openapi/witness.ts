// Compares what really goes over the wire with the documents: the requests that are granted, and every reply.
import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ValidateFunction } from "ajv";
import type { Example } from "../../src/openapi/examples.ts";
import type { RestRequest, Witness } from "../harness/rest-client.ts";
import { documents, operations, type Parameter, type Placed } from "./documents.ts";
import { exampleOf } from "./example-calls.ts";
import { strictValidator } from "./strict.ts";

const validators = new Map<JsonObject, ValidateFunction>();
const errorSchema: JsonObject = { $ref: "#/components/schemas/Status" };

/** Reject invalid items one by one, and succeed nevertheless. */
const checksItems: ReadonlySet<string> = new Set([
  "AdvisoryRecordsService_ImportAdvisoryRecords",
  "OrganizationImportService_ImportResources",
]);

/** Is told of every request that was granted, as an example. */
export type ExampleListener = (placed: Placed, example: Example) => void;

/** Returns a witness that fails when a request that was granted, or any reply, is not what a document says. */
export function newDocumentWitness(listener: ExampleListener = () => {}): {
  readonly see: Witness;
  unseen(name: string): string[];
} {
  const seen = new Set<Placed>();
  return {
    see(request, status, received) {
      const placed = find(request);
      check(request, placed, status, received);
      if (status !== 200 || !placed) return;
      seen.add(placed);
      if (isBodyValid(placed, request)) listener(placed, exampleOf(placed, request, received));
    },
    /** Returns the operations of a document that were granted nothing. */
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
  else {
    assert.ok(
      String(status) in placed.operation.responses,
      `${at} answered ${status}, which its operation does not name`,
    );
    validate(placed, errorSchema, JSON.parse(received), at);
  }
}

function checkGranted(placed: Placed, { target, body }: RestRequest, received: string, at: string): void {
  const { operationId, requestBody, responses } = placed.operation;
  const [path, query = ""] = target.split("?") as [string, string?];
  checkPath(placed, path, at);
  checkQuery(placed, query, at);
  if (body !== undefined && !checksItems.has(operationId))
    validate(placed, requestBody!.content["application/json"].schema, namedBy(query, body), at);
  const schema = responses["200"].content?.["application/json"].schema;
  if (schema) validate(placed, schema, JSON.parse(received), at);
  else assert.equal(received, "", at);
}

function isBodyValid(placed: Placed, { body }: RestRequest): boolean {
  const schema = placed.operation.requestBody?.content["application/json"].schema;
  return !schema || body === undefined || validatorOf(placed, schema)(body) === true;
}

/** Returns the part of a body that an update mask names. The rest is ignored. */
function namedBy(query: string, body: JsonValue): JsonValue {
  const mask = new URLSearchParams(query).get("updateMask");
  if (mask === null || mask === "*" || typeof body !== "object" || body === null) return body;
  const names = mask
    .split(",")
    .map((path) => path.split(".")[0]!.replace(/_(.)/g, (_match, letter) => letter.toUpperCase()));
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}

/** Returns the operation of a request: of those that fit the one whose path says most itself. */
function find({ method, target }: RestRequest): Placed | undefined {
  const path = target.replace(/\?.*/s, "");
  const fits = operations.filter((each) => each.httpMethod === method && patterns.get(each.path)!.test(path));
  const lengthOf = (placed: Placed) => placed.path.replace(/\{[^}]*\}/g, "").length;
  return fits.sort((a, b) => lengthOf(b) - lengthOf(a))[0];
}

const patterns = new Map(operations.map(({ path }) => [path, patternOf(path)]));

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{([^}]*)\}/g, "(?<$1>[^/]+)")}$`);
}

function checkPath(placed: Placed, path: string, at: string): void {
  const given = { ...patterns.get(placed.path)!.exec(path)!.groups };
  for (const parameter of parametersIn(placed, "path")) {
    checkParameter(placed, parameter, [decodeURIComponent(given[parameter.name]!)], at);
    delete given[parameter.name];
  }
  assert.deepEqual(given, {}, at);
}

function checkQuery(placed: Placed, query: string, at: string): void {
  const given = new URLSearchParams(query);
  for (const parameter of parametersIn(placed, "query")) {
    const { name, required } = parameter;
    if (given.has(name)) checkParameter(placed, parameter, given.getAll(name), at);
    else assert.ok(!required, `${at}: ${name}`);
    given.delete(name);
  }
  assert.deepEqual([...given.keys()], [], at);
}

function parametersIn({ operation }: Placed, place: Parameter["in"]): Parameter[] {
  return (operation.parameters ?? []).filter((parameter) => parameter.in === place);
}

/** Checks the texts that are given for a parameter; a list has one for each item. */
function checkParameter(placed: Placed, { name, schema }: Parameter, texts: readonly string[], at: string): void {
  const isList = schema.type === "array";
  if (!isList) assert.equal(texts.length, 1, `${at}: ${name}`);
  const values = texts.map((text) => valueFrom(isList ? (schema.items as JsonObject) : schema, text));
  validate(placed, schema, isList ? values : values[0], `${at}: ${name}`);
}

/** Converts a text to the type of the schema; returns it unchanged if it has no such form. */
function valueFrom({ type }: JsonObject, text: string): unknown {
  if (type === "boolean" && /^(true|false)$/.test(text)) return text === "true";
  if (type === "integer" && /^-?[0-9]+$/.test(text)) return Number(text);
  return text;
}

function validatorOf({ document }: Placed, schema: JsonObject): ValidateFunction {
  const known = validators.get(schema);
  if (known) return known;
  const validator = strictValidator(schema, documents.get(document)!.components.schemas);
  validators.set(schema, validator);
  return validator;
}

function validate(placed: Placed, schema: JsonObject, json: unknown, at: string): void {
  const validator = validatorOf(placed, schema);
  assert.ok(validator(json), `${at}: ${JSON.stringify(validator.errors)}\n${JSON.stringify(json)}`);
}
