// The search and the domains of the API reference, over the services of this server.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Grpc } from "../../../console/src/reference/documents.ts";
import { servicesByDomain } from "../../../console/src/reference/domains.ts";
import { search } from "../../../console/src/reference/search.ts";
import { versions } from "../../../console/src/reference/versions.ts";
import { openApiPages } from "../../../src/server/openapi-pages.ts";
import { composeUncalled } from "../../server/compose-uncalled.ts";

const page = openApiPages(composeUncalled(), "https://gatehouse.example.org")["/openapi/grpc.json"]!;
const { text } = await page({ headers: {} } as never);
const grpc = JSON.parse(String(text)) as Grpc;

/** Returns the first results: methods, services and types without their packages, fields behind their types. */
function found(query: string, count = 1): readonly string[] {
  return search(grpc, versions.current, query)
    .slice(0, count)
    .map(({ name, method, where }) => method ?? [name.split(".").at(-1), where].filter(Boolean).join("."));
}

describe("the search of the API reference", () => {
  it("a question of who can do something finds the method that does it, and the one that says who can", () => {
    assert.deepEqual(found("who can delete a repo", 2), ["DeleteRepo", "WhoCan"]);
    assert.deepEqual(found("Wer darf ein Repo löschen?", 2), ["DeleteRepo", "WhoCan"]);
  });

  it("words, plurals and synonyms find methods by name, path and comment, best first", () => {
    assert.deepEqual(found("remove a person"), ["RemoveMember"]);
    assert.deepEqual(found("rotate signing keys"), ["RotateSigningKey"]);
    assert.deepEqual(found("give a role"), ["CreateRoleBinding"]);
    assert.deepEqual(found("webhook resend"), ["Redeliver"]);
    assert.deepEqual(found("audit log"), ["ListChanges"]);
    assert.deepEqual(found("POST roleBindings"), ["CreateRoleBinding"]);
    assert.deepEqual(found("why am I denied"), ["ExplainAccess"]);
  });

  it("a field is found by its name with the name of its message", () => {
    assert.deepEqual(found("next_page_token ListGroupsResponse"), ["ListGroupsResponse.next_page_token"]);
  });

  it("words that nothing has find nothing, and so do words that say nothing", () => {
    assert.deepEqual(found("delete zeppelins"), []);
    assert.deepEqual(found("what is the"), []);
  });
});

describe("the domains of the API reference", () => {
  it("each service is in one domain, named for what it is about", () => {
    for (const documents of Object.values(versions)) {
      const byDomain = servicesByDomain(grpc, documents);
      const listed = [...byDomain.values()].flat().map(([name]) => name);
      const all = Object.entries(grpc.services).filter(([, one]) =>
        (documents as readonly string[]).includes(one.document),
      );
      assert.deepEqual(listed.toSorted(), all.map(([name]) => name).toSorted());
    }
    const operate = servicesByDomain(grpc, versions.current)
      .get("operate")!
      .map(([name]) => name);
    assert.deepEqual(operate, ["chainguard.platform.ping.v2beta1.PingService", "gatehouse.operate.v1.OperateService"]);
  });
});
