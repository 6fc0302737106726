// The form of the API reference chooses resources and people by name, wherever a field takes their uid.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  type Grpc,
  type Method,
  type OpenApi,
  operationOf,
  resolve,
} from "../../../console/src/reference/documents.ts";
import {
  bodyField,
  type FormField,
  fieldsOf,
  itemOf,
  parameterField,
} from "../../../console/src/reference/form/fields.ts";
import { namedByUid } from "../../../console/src/reference/form/named-by-uid.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";

const uidRule = /\^\[0-9a-f\]\{40\}/;

describe("the kind of resource that a field of the API reference names by its uid", () => {
  let server: TestServer;
  /** The kinds by method and field, such as "CreateRoleBinding roleUid"; "none" for a uid of another kind. */
  const kinds = new Map<string, string>();
  before(async () => {
    server = await startTestServer();
    const grpc = await read<Grpc>("grpc");
    for (const [service, { document: name, methods }] of Object.entries(grpc.services)) {
      const document = await read<OpenApi>(name);
      for (const method of methods) note(grpc, document, service, method);
    }
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  async function read<T>(name: string): Promise<T> {
    return (await (await fetch(`${server.url}/openapi/${name}.json`)).json()) as T;
  }

  function note(grpc: Grpc, document: OpenApi, service: string, method: Method): void {
    const operation = operationOf(document, service, method);
    if (!operation) return;
    const form = { grpc, document, method: method.name };
    const seen = new Set<string>();
    const visit = (field: FormField, path: string): void => {
      const { name, schema } = resolve(document, field.schema);
      if (uidRule.test(schema.pattern ?? ""))
        kinds.set(`${method.name} ${path}`, namedByUid(form, field)?.kind ?? "none");
      if (schema.items) {
        visit(itemOf(field, 1), path);
        return;
      }
      if (seen.has(name)) return;
      if (name !== "") seen.add(name);
      for (const one of fieldsOf(form, field, [])) visit(one, path === "" ? one.name : `${path}.${one.name}`);
    };
    const body = bodyField(grpc, method, operation);
    if (body) visit(body, "");
    for (const parameter of operation.parameters ?? []) visit(parameterField(parameter, ""), parameter.name);
  }

  it("the kind that a uid field names is that of its name, its comment, or the method whose path has it", () => {
    const expected = {
      "CreateGroup parent": "group",
      "CreateRoleBinding parent": "group",
      "CreateRoleBinding roleUid": "role",
      "CreateAccessRequestRule eligibleRoleUids": "role",
      "CreateAccessRequestRule approverIdentityUids": "identity",
      "CreateRoleBinding identityUid": "identity",
      "BatchCreateRoleBindings requests.roleBinding.identityUid": "identity",
      "ListChanges actorUid": "identity",
      "CreateTag parent": "repo",
      "DeleteTag uid": "tag",
      "DeleteRepo uid": "repo",
      "GetRepository repoUid": "repo",
      "GetAdvisory uid": "advisory",
      "CreateIdentityProvider defaultRole": "role",
      "CreateExternalGroupRoleMapping parent": "identityProvider",
      "CreateExternalGroupRoleMapping scope": "group",
      "TestIdentityProvider uid": "identityProvider",
      "SendTestEvent subscriptionUid": "subscription",
      "ListIdentities uidp.descendantsOf": "group",
      "CreateAccountAssociation parent": "group",
    };
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((field) => [field, kinds.get(field)])), expected);
  });

  it("a uid field names no kind only where the resource has no name, or can be of any kind", () => {
    const missing = [...kinds].filter(([, kind]) => kind === "none").map(([field]) => field);
    assert.deepEqual(
      missing.filter((field) => !/uidp\.(ancestorsOf|childrenOf|ids)$/.test(field)),
      [
        "GetGroupInvite uid",
        "DeleteGroupInvite uid",
        "UpdateGroupInvite groupInvite.uid",
        "GetExternalGroupRoleMapping uid",
        "DeleteExternalGroupRoleMapping uid",
        "BatchDeleteExternalGroupRoleMappings names",
        "GetRoleBinding uid",
        "DeleteRoleBinding uid",
        "UpdateRoleBinding roleBinding.uid",
        "GetAccessRequestRule uid",
        "UpdateAccessRequestRule accessRequestRule.uid",
        "DeleteAccessRequestRule uid",
        "CreateAccessRequest ruleUid",
        "GetAccessRequest uid",
        "ApproveAccessRequest uid",
        "DenyAccessRequest uid",
        "CancelAccessRequest uid",
        "AcknowledgeAccessRequest uid",
        "EndAccessRequest uid",
        "GetAccessReview uid",
        "ListAccessReviewItems uid",
        "DecideAccessReviewItems uid",
        "CloseAccessReview uid",
        "GetAttempt uid",
        "ListChanges resourceUid",
        "WatchChanges resourceUid",
        "ListDelegations parent",
        "ConfirmDelegation uid",
        "SimulateChange deleteRoleBinding.uid",
        "SimulateChange deleteRole.uid",
        "ResolveNames uids",
        // Version 1, whose methods are not named after the resource.
        "Delete id",
        "Get uid",
        "BatchDelete ids",
      ],
    );
  });
});
