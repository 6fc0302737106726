// Random rules and tokens of the same few issuers, so both verdicts are frequent.
import { create } from "@bufbuild/protobuf";
import {
  type Identity_ClaimMatch,
  Identity_ClaimMatchSchema,
} from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { parseExactly, scalarText } from "../../../src/base/json.ts";
import type { Claims } from "../../../src/sts/claim-match.ts";
import type { Pins } from "../../../src/sts/trust/replay.ts";
import { pick, type Random } from "../../history/random.ts";

const issuers = [
  "https://token.actions.githubusercontent.com",
  "https://gitlab.com",
  "https://app.terraform.io",
  "https://agent.buildkite.com",
  "https://kubernetes.default.svc",
  "accounts.google.com",
] as const;

const subjects = [
  "repo:acme/app:ref:refs/heads/main",
  "repo:acme/app:pull_request",
  "repo:acme@12/app@74:ref:x",
  "a\u0007b",
];

const names = [
  "repository",
  "repository_id",
  "repository_owner",
  "environment",
  "ref",
  "event_name",
  "project_path",
  "azp",
  "terraform_workspace_name",
  "kubernetes.io",
  "actor",
  "email",
  "sha",
  "groups",
  "constructor",
];

/** JSON of values, some of which JavaScript would write differently. */
const values = [
  '"acme/app"',
  '"74"',
  "74",
  "74.0",
  "1e2",
  "18446744073709551616",
  "true",
  "false",
  "null",
  '"main"',
  '"\\u0007"',
  '["main", 74, {"sha": "x"}]',
  "[]",
  '[["main"]]',
  '{"namespace": "default", "serviceaccount": {"name": "app", "uid": "7"}}',
];

/** Texts that rules name, and patterns. The last pattern takes too many steps for long claims. */
const texts = ["acme/app", "74", "74.0", "100", "18446744073709551616", "true", "main"];
const patterns = ["acme/.*", "[0-9.]+", ".*", "(main|true)", "(a|b|c|d|e|f|g|h|.){1,60}x?"];

/** Returns the claims of a random token. */
export function randomClaims(random: Random): Claims {
  const long = random(40) === 0 ? "x".repeat(random(4000)) : undefined;
  const further = names.filter(() => random(3) === 0).map((name) => `${JSON.stringify(name)}: ${pick(random, values)}`);
  const aud = pick(random, ['"https://gatehouse.example"', '["other", "https://gatehouse.example"]', '"other"', "7"]);
  const members = [
    `"iss": ${JSON.stringify(pick(random, issuers))}`,
    `"sub": ${JSON.stringify(long ?? pick(random, subjects))}`,
    `"aud": ${aud}`,
    ...further,
  ];
  return parseExactly(`{${members.join(", ")}}`) as Claims;
}

/** Returns random pins, some of which fit the names and ids of random tokens. */
export function randomPins(random: Random): Pins {
  const pins = ["owner", "repository", "namespace", "project", "organization", "workspace", "service_account"]
    .filter(() => random(2) === 0)
    .map((kind) => {
      const name = pick(random, ["acme/app", "main", "74", "default/app"]);
      return { kind, name, id: pick(random, ["74", "7", "1e2", "main"]), source: "first-use", time: 0 } as const;
    });
  return { trust: { pins, refused: [] }, policy: pick(random, ["first-use", "first-use", "explicit", "off"]) };
}

/** Returns a random rule. Most often it has issuer, subject and further claims of the token. */
export function randomRule(random: Random, token: Claims): Identity_ClaimMatch {
  const isNear = random(3) > 0;
  const iss = isNear ? String(token.iss) : pick(random, issuers);
  const some = (all: readonly string[]) =>
    Object.fromEntries(
      names
        .filter((name) => random(isNear && !Object.hasOwn(token, name) ? 60 : 12) === 0)
        .map((name) => {
          const text = scalarText(token[name]);
          return [name, all === texts && isNear && text !== "" ? text : pick(random, all)];
        }),
    );
  return create(Identity_ClaimMatchSchema, {
    iss:
      random(2) === 0
        ? { case: "issuerPattern", value: "https://[a-z.]+" }
        : { case: "issuer", value: iss.startsWith("https:") ? iss : `https://${iss}` },
    sub:
      random(2) === 0
        ? { case: "subjectPattern", value: pick(random, ["repo:acme.*", ".*", ".+:ref:.*", "(x|y|z|[a-z]){1,300}"]) }
        : { case: "subject", value: isNear ? String(token.sub) : pick(random, subjects) },
    ...(random(4) === 0 && { aud: { case: "audiencePattern", value: pick(random, [".*", "other"]) } }),
    claims: some(texts),
    claimPatterns: some(patterns),
  });
}
