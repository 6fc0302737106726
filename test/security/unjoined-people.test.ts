// A person whom a stranger gave a role stays unnamed there, in everything that the stranger reads, until the person joins.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type DescField, type DescMethod, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { openSink, type Sink, startSendingServer, typeOf } from "../events/sink.ts";
import { type ApiClient, openApiClient, services } from "../harness/api-clients.ts";
import { databases } from "../harness/databases.ts";
import type { TestServer } from "../harness/server.ts";
import { addCaller, addGroup, addPerson, ownerRole, viewerRole } from "./tree.ts";

const person = { name: "zebulon quark", email: "zq@hidden.example" };
const personal = /zebulon|quark|zq@|hidden\.example/;

const reading = /^(Get|List|Search|(Batch)?Query|Resolve|Who|What|(Batch)?Explain|Simulate|Count|Find|Export|Remove)/;

/** The methods that name a person once they have joined. */
const naming = [
  "chainguard.platform.iam.v2beta1.RoleBindingsService/ListRoleBindings",
  "gatehouse.access.v1.AccessService/WhoCan",
  "gatehouse.search.v1.SearchService/Search",
  "gatehouse.search.v1.SearchService/ResolveNames",
];

for (const database of databases) {
  describe(`a person whom a stranger gave a role, ${database}`, () => {
    let server: TestServer;
    let sink: Sink;
    let client: ApiClient;
    const all = new AsyncDisposableStack();
    before(async () => {
      sink = all.use(await openSink());
      server = all.use(await startSendingServer({ database }));
      client = all.use(openApiClient("connect", server.url));
    });
    after(() => all.disposeAsync());

    it("a person bound by a stranger is unnamed in every response, event and search before joining, and named after it", async () => {
      const uid = await addPerson(server, person.name, person.email, undefined);
      const stranger = await addGroup(server, null, "stranger");
      const owner = await addCaller(server, stranger, ownerRole.uid);
      await succeed(owner.token, `${events}/CreateSubscription`, {
        parent: stranger,
        subscription: { sink: sink.url },
      });
      const binding = await succeed(owner.token, `${iam}.RoleBindingsService/CreateRoleBinding`, {
        parent: stranger,
        roleBinding: { identityUid: uid, roleUid: viewerRole.uid },
      });
      const things = { stranger, person: uid, binding: String(binding.uid) };

      // The calls that the console makes before the person decides.
      const personToken = await server.tokenOf(uid);
      for (const method of ["ListPendingOrganizations", "ListMemberships"])
        await succeed(personToken, `${memberships}/${method}`, {});
      const before = await readAll(owner.token, things);
      for (const [method, response] of before) assert.doesNotMatch(response, personal, method);
      assert.deepEqual(
        naming.filter((method) => !before.has(method)),
        [],
      );
      const [created] = await sink.wait(1, (one) => typeOf(one).startsWith("iam.rolebindings"));
      assert.doesNotMatch(created!.body, personal);

      await succeed(personToken, `${memberships}/AcceptOrganization`, { organization: stranger });
      const joined = await readAll(owner.token, things);
      assert.deepEqual(
        naming.filter((method) => !personal.test(joined.get(method) ?? "")),
        [],
      );
    });

    const iam = "/chainguard.platform.iam.v2beta1";
    const events = "/chainguard.platform.events.v2beta1.SubscriptionsService";
    const memberships = "/gatehouse.iam.v1.MembershipsService";

    async function succeed(token: string, method: string, request: JsonObject): Promise<JsonObject> {
      const { code, response, message } = await client.call(token, method, request);
      assert.equal(code, 0, `${method}: ${message}`);
      return response as JsonObject;
    }

    /** Calls every method that reads, once for each uid that its request may name; returns what came, by method. */
    async function readAll(token: string, things: Things): Promise<ReadonlyMap<string, string>> {
      const read = new Map<string, string>();
      for (const method of services.flatMap((service) => service.methods)) {
        if (method.methodKind !== "unary" || !reading.test(method.name)) continue;
        const name = `${method.parent.typeName}/${method.name}`;
        for (const uid of Object.values(things)) {
          const outcome = await client.call(token, `/${name}`, requestOf(method, things, uid));
          const text = JSON.stringify(outcome);
          // A refusal is a response, too: it must not name anybody either.
          read.set(outcome.code === 0 ? name : `${name}, refused`, (read.get(name) ?? "") + text);
        }
      }
      return read;
    }
  });
}

interface Things {
  readonly stranger: string;
  readonly person: string;
  readonly binding: string;
}

function requestOf(method: DescMethod, things: Things, uid: string): JsonObject {
  return Object.fromEntries(
    method.input.fields.flatMap((field): [string, JsonValue][] => {
      const value = sampleOf(field, things, uid);
      return value === undefined ? [] : [[field.jsonName, value]];
    }),
  );
}

function sampleOf(field: DescField, { stranger, person: user, binding }: Things, uid: string): JsonValue | undefined {
  const texts: Readonly<Record<string, string>> = {
    uid,
    name: uid,
    parent: stranger,
    group: stranger,
    organization: stranger,
    identity: user,
    identity_uid: user,
    // A prefix finds the word, and is not what the test looks for.
    query: "zebu",
    capability: "groups.list",
  };
  const others: Readonly<Record<string, JsonValue>> = {
    uids: [user, stranger, binding],
    uidp: { descendantsOf: stranger },
    metrics: ["changes"],
    requests: [{ identity: user, group: stranger, capability: "groups.list" }],
    validate_only: true,
    delete_role_binding: { uid: binding },
  };
  return field.scalar === ScalarType.STRING && field.fieldKind === "scalar" ? texts[field.name] : others[field.name];
}
