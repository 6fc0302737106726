// The OpenAPI documents: valid, of every route and of nothing else, and of what the REST transport reads.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { createRegistry, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { Validator } from "@seriousme/openapi-schema-validator";
import { accessRuleOf } from "../../src/authz/rules.ts";
import type { ServedMethod } from "../../src/pipeline/method.ts";
import { openApiPages } from "../../src/server/openapi-pages.ts";
import { MessageExchange } from "../../src/transport/http/exchange.ts";
import { newSite } from "../../src/transport/pages/pages.ts";
import { bindRequest } from "../../src/transport/rest/bind-request.ts";
import { bindingsOf, formatBinding } from "../../src/transport/rest/http-rule.ts";
import { newRoutes } from "../../src/transport/rest/routes.ts";
import { startTestServer } from "../harness/server.ts";
import { composeUncalled } from "../server/compose-uncalled.ts";
import { allOperations, documents, type Parameter, type Placed } from "./documents.ts";
import { samplesOf } from "./samples.ts";

const api = composeUncalled();
const bindings = [...api.methods.values(), ...api.streams].flatMap((method) => bindingsOf<ServedMethod>(method));
const routes = newRoutes(bindings);
const uid = "0123456789012345678901234567890123456789%2F0123456789abcdef";

/** Returns a path without the names of its variables. */
const shapeOf = (path: string) => path.replace(/\{[^}]*\}/g, "{}");
const titleOf = ({ document, httpMethod, path }: Placed) => `${document}: ${httpMethod} ${path}`;
const routeOf = ({ httpMethod, path }: Placed) => routes.find(httpMethod, path.replace(/\{[^}]*\}/g, uid));

describe("the index of the documents", () => {
  it("names documents that exist, and one that describes the methods of all of them for gRPC", async () => {
    await using server = await startTestServer({});
    const read = async (path: string) => (await (await fetch(server.url + path)).json()) as Described;
    const index = await read("/openapi/");
    assert.deepEqual(index.documents.map(({ name }) => name).sort(), ["auth", "gatehouse", "v1", "v2", "v2beta1"]);
    const described = new Set<string>();
    for (const { name, path } of index.documents)
      for (const one of Object.values((await read(path)).paths).flatMap((each) => Object.values(each)))
        described.add(`${name} ${one.tags[0]}`);
    const grpc = await read(index.grpc);
    const services = Object.entries(grpc.services);
    assert.deepEqual(new Set(services.map(([name, { document }]) => `${document} ${name}`)), described);
    for (const [, { methods }] of services)
      for (const { name, input, output } of methods)
        for (const type of [input, output]) assert.ok(Object.hasOwn(grpc.types, type), `${type} of ${name}`);
    const create = grpc.services["chainguard.platform.iam.v2beta1.GroupsService"]!.methods.find(
      ({ name }) => name === "UpdateGroup",
    );
    assert.deepEqual(create?.access, { type: "token", capabilities: ["groups.update"], scope: "group.uid" });
    assert.deepEqual(create.routes, [
      { method: "PATCH", path: "/iam/v2beta1/groups/{group.uid=**}", variables: ["group.uid"], body: "group" },
    ]);
    assert.equal((await fetch(`${server.url}/openapi/gone`)).status, 404);
  });
});

interface Described {
  readonly documents: readonly { readonly name: string; readonly path: string }[];
  readonly grpc: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly tags: readonly string[] }>>>>;
  readonly services: Readonly<
    Record<
      string,
      {
        readonly document: string;
        readonly methods: readonly {
          readonly name: string;
          readonly input: string;
          readonly output: string;
          readonly access: object;
          readonly routes: readonly object[];
        }[];
      }
    >
  >;
  readonly types: object;
}

describe("OpenAPI documents", () => {
  it("are in memory once, however many responses wait for their readers", async () => {
    const site = newSite(
      openApiPages(composeUncalled(), "https://gatehouse.example.org"),
      {},
      () => assert.fail(),
      assert.ifError,
    );
    const sent: unknown[] = [];
    const request = { url: "/openapi/v2beta1.json", method: "GET", headers: {}, resume: () => {} };
    const response = { writeHead: () => {}, end: (body: unknown) => sent.push(body) };
    for (let i = 0; i < 2; i++) await site(new MessageExchange(request as never, response as never));
    // Responses are sent together at the end of the tick.
    await nextTick();
    assert.ok(Buffer.isBuffer(sent[0]));
    assert.equal(sent[0], sent[1]);
  });

  for (const [path, document] of documents) {
    it(`${path} is valid by the schema of OpenAPI`, async () => {
      const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
      assert.ok(valid, JSON.stringify(errors));
    });

    it(`${path} has no path twice, regardless of the names of its variables`, () => {
      const shapes = Object.keys(document.paths).map(shapeOf);
      assert.deepEqual(
        shapes.filter((shape, i) => shapes.indexOf(shape) !== i),
        [],
      );
    });

    it(`${path} is at a path of its own`, () => assert.equal(routes.has("GET", path), false));

    it(`${path} names each operation once, and says what each one and each of their parameters is`, () => {
      const own = allOperations.filter((placed) => placed.document === path).map(({ operation }) => operation);
      assert.equal(new Set(own.map(({ operationId }) => operationId)).size, own.length);
      for (const { operationId, summary, parameters = [] } of own) {
        assert.notEqual(summary, "", operationId);
        for (const parameter of parameters) assert.ok("description" in parameter, `${operationId}: ${parameter.name}`);
      }
    });

    it(`${path} has every component that it refers to, and no unused one`, () => {
      const text = JSON.stringify(document);
      const referred = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name));
      assert.deepEqual([...referred].sort(), Object.keys(document.components.schemas).sort());
    });
  }

  for (const binding of bindings) {
    it(`${formatBinding(binding)} is in exactly one document`, () => {
      const { httpMethod, template, method } = binding;
      const found = allOperations.filter((each) => {
        return each.httpMethod === httpMethod && shapeOf(each.path) === shapeOf(template.text);
      });
      assert.deepEqual(
        found.map(({ operation }) => operation.tags),
        [[method.descriptor.parent.typeName]],
      );
    });
  }

  for (const placed of allOperations) {
    it(`${titleOf(placed)} is served, by the method that it names`, () => {
      const { descriptor } = routeOf(placed).binding.method;
      const { operationId, tags } = placed.operation;
      assert.deepEqual([tags[0], operationId.replace(/2$/, "")], [descriptor.parent.typeName, nameOf(descriptor)]);
    });

    it(`${titleOf(placed)} asks for a token as its method does`, () => {
      const rule = accessRuleOf(routeOf(placed).binding.method.descriptor);
      const isOpen = rule === undefined || rule.type === "open";
      assert.deepEqual(placed.operation.security, isOpen ? [{}, { bearer: [] }] : undefined);
    });

    it(`${titleOf(placed)} takes every parameter and every member that it names`, () => {
      for (const parameters of parametersOf(placed)) bind(placed, parameters, undefined);
      for (const body of bodiesOf(placed)) bind(placed, [], body);
    });
  }
});

function nameOf({ parent, name }: { parent: { name: string }; name: string }): string {
  return `${parent.name}_${name}`;
}

/** Throws when the REST transport cannot make a request of it. What is missing is not its concern. */
function bind(placed: Placed, parameters: readonly (readonly [string, string])[], body: JsonValue | undefined): void {
  bindRequest(routeOf(placed), { parameters, body, registry: createRegistry() });
}

function parametersOf({ document, operation }: Placed): (readonly [string, string])[][] {
  const schemas = documents.get(document)!.components.schemas;
  const inQuery = (operation.parameters ?? []).filter((parameter: Parameter) => parameter.in === "query");
  return inQuery.flatMap(({ name, schema }) =>
    samplesOf(schema, schemas).map((value) => [value].flat().map((item) => [name, String(item)] as const)),
  );
}

function bodiesOf({ document, operation }: Placed): JsonValue[] {
  const schema: JsonObject | undefined = operation.requestBody?.content["application/json"].schema;
  return schema ? samplesOf(schema, documents.get(document)!.components.schemas) : [];
}
