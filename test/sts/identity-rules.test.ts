import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { IdentitySchema, ServicePrincipalSchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { checkRelationship } from "../../src/sts/identity-rules.ts";
import { keyPair, keySetText } from "./outside.ts";

const now = Date.UTC(2026, 0, 2);
const key = keyPair("ES256");
const day = 24 * 60 * 60 * 1000;

function violations(json: Record<string, JsonValue>, options: { allowInsecureIssuers?: boolean } = {}) {
  const identity = fromJson(IdentitySchema, json);
  return checkRelationship(identity, { allowInsecureIssuers: false, now, createTime: now, ...options });
}

/** One line for each violation, for a table. */
function lines(json: Record<string, JsonValue>): string[] {
  return violations(json).map(({ field, description }) => `${field}: ${description}`);
}

const match = { issuer: "https://issuer.example", subject: "workload" };
const keys = { issuer: "pull-token", subject: "workload", issuerKeys: "keys" };
const aws = { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/a", userId: "AROA:b" };
const at = (ms: number) => timestampDate(timestampFromMs(ms)).toISOString();
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, "v"]));

describe("a relationship is accepted", () => {
  const table: readonly (readonly [rule: string, json: Record<string, JsonValue>])[] = [
    ["claim match, exact", { claimMatch: match }],
    ["claim match, by patterns", { claimMatch: { issuerPattern: "https://a\\.example", subjectPattern: ".*" } }],
    ["claim match with an audience", { claimMatch: { ...match, audience: "own" } }],
    ["claim match with a pattern of audiences", { claimMatch: { ...match, audiencePattern: "o.*" } }],
    [
      "the same claim exact and by a pattern",
      { claimMatch: { ...match, claims: { a: "b" }, claimPatterns: { a: "." } } },
    ],
    ["an empty value of a claim", { claimMatch: { ...match, claims: { a: "" } } }],
    ["fifty claims", { claimMatch: { ...match, claims: many(50), claimPatterns: many(50) } }],
    ["static keys that are not JSON", { staticKeys: keys }],
    ["static keys with ten keys", { staticKeys: { ...keys, issuerKeys: keySetText(...Array(10).fill(key)) } }],
    [
      "static keys of which one is of no use",
      { staticKeys: { ...keys, issuerKeys: keySetText(keyPair("ES512"), key) } },
    ],
    ["static keys of 64 KiB", { staticKeys: { ...keys, issuerKeys: "k".repeat(64 * 1024) } }],
    ["static keys for 365 days", { staticKeys: { ...keys, expirationTime: at(now + 365 * day), audiences: ["own"] } }],
    ["an AWS identity, exact", { awsIdentity: aws }],
    [
      "an AWS identity by patterns",
      { awsIdentity: { awsAccount: aws.awsAccount, arnPattern: ".*", userIdPattern: "A.*" } },
    ],
    ["a service principal", { servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" }],
  ];
  for (const [rule, json] of table) it(rule, () => assert.deepEqual(lines(json), []));

  it("every service principal that has a name", () => {
    const names = ServicePrincipalSchema.values.filter(({ number }) => number !== 0).map(({ name }) => name);
    assert.equal(names.length, 13);
    for (const name of names) assert.deepEqual(lines({ servicePrincipal: name }), [], name);
  });

  it("an http issuer on loopback, where that is allowed", () => {
    const json = { claimMatch: { ...match, issuer: "http://127.0.0.1:8080" } };
    assert.deepEqual(violations(json, { allowInsecureIssuers: true }), []);
    const elsewhere = { claimMatch: { ...match, issuer: "http://issuer.example" } };
    assert.equal(violations(elsewhere, { allowInsecureIssuers: true }).length, 1);
  });
});

describe("a relationship is rejected", () => {
  const table: readonly (readonly [rule: string, json: Record<string, JsonValue>, wanted: readonly RegExp[]])[] = [
    ["none at all", {}, [/^relationship: exactly one of/]],
    [
      "M6: neither exact nor pattern",
      { claimMatch: {} },
      [/^claim_match\.issuer: .*issuer_pattern/, /^claim_match\.subject: .*subject_pattern/],
    ],
    [
      "M6: exact values that are empty",
      { claimMatch: { issuer: "", subject: "", audience: "" } },
      [/^claim_match\.issuer: must/, /\.subject: must not be empty$/, /\.audience: must not be empty$/],
    ],
    [
      "M6: patterns that are empty",
      { claimMatch: { issuerPattern: "", subjectPattern: "", audiencePattern: "", claimPatterns: { a: "" } } },
      [
        /\.issuer_pattern: must not be empty$/,
        /\.subject_pattern: /,
        /\.audience_pattern: /,
        /\.claim_patterns\[a\]: /,
      ],
    ],
    ["J7: a query", { claimMatch: { ...match, issuer: "https://a.example?b" } }, [/\.issuer: must not have a query$/]],
    ["J7: a fragment", { claimMatch: { ...match, issuer: "https://a.example#b" } }, [/fragment$/]],
    ["J7: a user", { claimMatch: { ...match, issuer: "https://a@b.example" } }, [/user information$/]],
    ["an http issuer", { claimMatch: { ...match, issuer: "http://127.0.0.1" } }, [/must be an https URL$/]],
    ["Google's issuer without its scheme", { claimMatch: { ...match, issuer: "accounts.google.com" } }, [/https URL$/]],
    ["M3: a wide issuer", { claimMatch: { subject: "a", issuerPattern: "https://a.b" } }, [/issuer_pattern: "\."/]],
    ["M4: a bad pattern", { claimMatch: { issuer: match.issuer, subjectPattern: "(" } }, [/subject_pattern: .*RE2/]],
    ["too many claims", { claimMatch: { ...match, claims: many(51) } }, [/\.claims: must have at most 50/]],
    ["too many patterns", { claimMatch: { ...match, claimPatterns: many(51) } }, [/\.claim_patterns: .*at most 50/]],
    [
      "M4: patterns that are too large together",
      {
        claimMatch: {
          issuerPattern: "https://[a-z]{1,400}\\.example",
          subjectPattern: "a{1000}",
          audiencePattern: "a{500}",
          claimPatterns: { a: "b{500}" },
        },
      },
      [/^claim_match: must not have patterns that stand for more than 2400 instructions together: these have \d{4}$/],
    ],
    ["a claim without a name", { claimMatch: { ...match, claims: { "": "a" } } }, [/\.claims: .*empty name$/]],
    ["a subject of 2049 characters", { claimMatch: { ...match, subject: "a".repeat(2049) } }, [/at most 2048/]],
    [
      "issuer and subject that no index takes",
      { claimMatch: { ...match, subject: "\u4e00".repeat(900) } },
      [/^claim_match\.subject: must be at most 2600 bytes long with the issuer$/],
    ],
    [
      "issuer and subject of static keys that no index takes",
      { staticKeys: { ...keys, subject: "\u4e00".repeat(900) } },
      [/^static_keys\.subject: must be at most 2600 bytes long with the issuer$/],
    ],
    [
      "J7: a dot segment",
      { claimMatch: { ...match, issuer: "https://a.example/b/../c" } },
      [/dot segment in its path$/],
    ],
    [
      "J7: another spelling",
      { claimMatch: { ...match, issuer: "https://A.example" } },
      [/written as "https:\/\/a\.example"$/],
    ],
    [
      "J7: a long issuer",
      { claimMatch: { ...match, issuer: `https://a.example/${"b".repeat(2048)}` } },
      [/at most 2048/],
    ],
    [
      "J7: another spelling of static keys",
      { staticKeys: { ...keys, issuer: "http://LOCALHOST" } },
      [/\.issuer: .*written as/],
    ],
    [
      "U+0000, which not all databases store",
      { claimMatch: { ...match, subject: "a\0" } },
      [/\.subject: .*control char/],
    ],
    ["a line break in a subject", { claimMatch: { ...match, subject: "a\nb" } }, [/\.subject: .*control characters/]],
    [
      "a mark that turns a subject",
      { claimMatch: { ...match, subject: "a\u202eb" } },
      [/\.subject: .*direction of text$/],
    ],
    [
      "a control character in an audience",
      { claimMatch: { ...match, audience: "a\u0085" } },
      [/\.audience: .*control/],
    ],
    ["an isolate in a claim", { claimMatch: { ...match, claims: { a: "\u2066" } } }, [/\.claims\[a\]: .*direction/]],
    ["a tab in the name of a claim", { claimMatch: { ...match, claims: { "a\t": "b" } } }, [/\.claims: .*control/]],
    [
      "a mark in a pattern",
      { claimMatch: { ...match, claimPatterns: { a: "\u200e" } } },
      [/claim_patterns\[a\]: .*direction/],
    ],
    [
      "control characters in static keys",
      { staticKeys: { ...keys, issuer: "a\n", subject: "a\n", audiences: ["a\n"] } },
      [/\.issuer: .*control/, /\.subject: .*control/, /\.audiences\[0\]: .*control/],
    ],
    ["a control character in an ARN", { awsIdentity: { ...aws, arn: "a\u0007" } }, [/\.arn: .*control/]],
    [
      "static keys without anything",
      { staticKeys: {} },
      [/^static_keys\.issuer: is required$/, /\.subject: is required$/, /\.issuer_keys: is required$/],
    ],
    [
      "keys beyond 64 KiB",
      { staticKeys: { ...keys, issuerKeys: "k".repeat(64 * 1024 + 1) } },
      [/issuer_keys: must be/],
    ],
    [
      "keys that are not a key set",
      { staticKeys: { ...keys, issuerKeys: "{}" } },
      [/issuer_keys: must be a JSON Web Key Set: .*"keys" \(RFC 7517 §5\)$/],
    ],
    ["no keys", { staticKeys: { ...keys, issuerKeys: '{"keys":[]}' } }, [/issuer_keys: must have a public key for/]],
    [
      "eleven keys",
      { staticKeys: { ...keys, issuerKeys: keySetText(...Array(11).fill(key)) } },
      [/issuer_keys: must have at most 10 keys$/],
    ],
    [
      "a private key among others",
      {
        staticKeys: {
          ...keys,
          issuerKeys: keySetText(key, { ...key, jwk: { ...key.privateKey.export({ format: "jwk" }) } }),
        },
      },
      [/issuer_keys: must have public keys only: "d" is a member of a private or symmetric key$/],
    ],
    [
      "a shared secret",
      { staticKeys: { ...keys, issuerKeys: '{"keys":[{"kty":"oct","k":"YQ"}]}' } },
      [/issuer_keys: must have public keys only: "k" is/],
    ],
    [
      "keys of an algorithm that is not accepted",
      { staticKeys: { ...keys, issuerKeys: keySetText(keyPair("ES512")) } },
      [/issuer_keys: must have a public key for signatures by one of RS256, .*; RSA keys of 2048 to 8192 bits$/],
    ],
    ["keys of the past", { staticKeys: { ...keys, expirationTime: at(now) } }, [/expiration_time: .*future$/]],
    [
      "keys for more than 365 days",
      { staticKeys: { ...keys, expirationTime: at(now + 365 * day + 1) } },
      [/expiration_time: .*365 days/],
    ],
    ["two audiences", { staticKeys: { ...keys, audiences: ["a", "b"] } }, [/\.audiences: .*one value$/]],
    ["an empty audience", { staticKeys: { ...keys, audiences: [""] } }, [/\.audiences\[0\]: must not be empty$/]],
    [
      "an AWS identity without anything",
      { awsIdentity: {} },
      [
        /aws_account: AWS account ID must match "\^\[0-9\]\{12\}\$"$/,
        /\.arn: .*arn_pattern/,
        /\.user_id: .*user_id_pattern/,
      ],
    ],
    ["an AWS account with a line break", { awsIdentity: { ...aws, awsAccount: "123456789012\n" } }, [/must match/]],
    ["an AWS account of 11 digits", { awsIdentity: { ...aws, awsAccount: "12345678901" } }, [/must match/]],
    [
      "M6: empty AWS members",
      { awsIdentity: { ...aws, arn: "", userId: "" } },
      [/\.arn: must not be empty$/, /\.user_id: must not be empty$/],
    ],
    [
      "bad AWS patterns",
      { awsIdentity: { awsAccount: aws.awsAccount, arnPattern: "(", userIdPattern: "(" } },
      [/\.arn_pattern: /, /\.user_id_pattern: /],
    ],
    ["an unspecified service principal", { servicePrincipal: 0 }, [/^service_principal: must be a known/]],
    ["an unknown service principal", { servicePrincipal: 99 }, [/^service_principal: must be a known/]],
  ];
  for (const [rule, json, wanted] of table) {
    it(rule, () => {
      const found = lines(json);
      assert.equal(found.length, wanted.length, found.join("; "));
      for (const [index, pattern] of wanted.entries()) assert.match(found[index]!, pattern);
    });
  }

  it("the maximum age of static keys counts from the creation of the identity", () => {
    const expirationTime = timestampFromMs(now + 1);
    const identity = create(IdentitySchema, {
      relationship: { case: "staticKeys", value: { ...keys, expirationTime, audiences: [] } },
    });
    const options = { allowInsecureIssuers: false, now, createTime: now - 365 * day };
    assert.match(checkRelationship(identity, options)[0]?.description ?? "", /365 days/);
  });

  it("the error shortens and escapes the names of claims", () => {
    const claimPatterns = { [`\n${"n".repeat(500)}`]: "(" };
    const [, violation] = violations({ claimMatch: { ...match, claimPatterns } });
    assert.match(violation?.field ?? "", /^claim_match\.claim_patterns\[\\u\{a\}n{199}…\]$/);
  });
});
