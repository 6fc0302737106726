import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { discoveryDocument, keySetPath } from "../../src/authn/discovery.ts";

describe("discoveryDocument", () => {
  const endpoint = { path: "/sts/token", grantTypes: ["client_credentials"] };
  const issuers: [name: string, issuer: string, jwksUri: string][] = [
    ["below the host", "https://gatehouse.example", `https://gatehouse.example${keySetPath}`],
    ["below a path", "https://host.example/gatehouse", `https://host.example/gatehouse${keySetPath}`],
    ["Discovery §4: a terminating slash goes", "http://127.0.0.1:8080/", `http://127.0.0.1:8080${keySetPath}`],
  ];
  for (const [name, issuer, jwksUri] of issuers) {
    it(`repeats the issuer byte for byte and finds the key set: ${name}`, () => {
      const document = discoveryDocument(issuer, endpoint);
      assert.equal(document.issuer, issuer);
      assert.equal(document.jwks_uri, jwksUri);
    });
  }

  it("has the members that Discovery §3 requires, none empty, and the endpoints below the issuer", () => {
    const document = discoveryDocument("https://gatehouse.example/", endpoint);
    assert.deepEqual(document.id_token_signing_alg_values_supported, ["RS256", "ES256"]);
    assert.deepEqual(document.subject_types_supported, ["public"]);
    assert.deepEqual(document.response_types_supported, ["id_token"]);
    assert.deepEqual(
      Object.entries(document).filter(([member]) => member.endsWith("_endpoint")),
      [
        ["authorization_endpoint", "https://gatehouse.example/oauth"],
        ["token_endpoint", "https://gatehouse.example/sts/token"],
      ],
    );
    for (const [member, value] of Object.entries(document)) assert.ok(value === true || value.length > 0, member);
  });
});
