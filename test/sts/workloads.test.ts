import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { IdentitySchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { checkRelationship } from "../../src/sts/identity-rules.ts";
import { startTime } from "../authn/token-fixtures.ts";
import { openExchange, outcome, outsideClaims, staticKeys, uid } from "./exchange-fixtures.ts";
import { keyPair, keySetText, network, signOutside } from "./outside.ts";
import { type Shape, shapes } from "./workload-shapes.ts";

type Relationship = Parameters<Awaited<ReturnType<typeof openExchange>>["add"]>[1];

function exactMatch({ claims: { iss, sub, aud }, exact }: Shape): Relationship {
  return {
    case: "claimMatch",
    value: {
      iss: { case: "issuer", value: iss },
      sub: { case: "subject", value: sub },
      aud: { case: "audience", value: firstOf(aud) },
      claims: { ...exact },
    },
  };
}

function patternMatch({ patterns: [iss, sub, aud, claims] }: Shape): Relationship {
  return {
    case: "claimMatch",
    value: {
      iss: { case: "issuerPattern", value: iss },
      sub: { case: "subjectPattern", value: sub },
      aud: { case: "audiencePattern", value: aud },
      claimPatterns: { ...claims },
    },
  };
}

function keysOf({ alg, claims: { iss, sub, aud } }: Shape): Relationship {
  return staticKeys(keySetText(keyPair(alg)), { issuer: iss, subject: sub, audiences: [firstOf(aud)] });
}

function firstOf(aud: string | readonly string[]): string {
  return typeof aud === "string" ? aud : aud[0]!;
}

const modes: readonly (readonly [mode: string, (shape: Shape) => Relationship, (shape: Shape) => readonly string[]])[] =
  [
    ["exactly", exactMatch, ({ exact }) => Object.keys(exact)],
    ["by patterns", patternMatch, ({ patterns: [, , , claims] }) => Object.keys(claims)],
    ["by static keys", keysOf, () => []],
  ];

for (const shape of shapes) {
  for (const [mode, relationshipOf, furtherOf] of modes) {
    describe(`a token of ${shape.name}, named ${mode}`, () => {
      const relationship = relationshipOf(shape);
      const key = keyPair(shape.alg);

      async function run(changes: object): Promise<string> {
        const exchange = await openExchange(network([shape.claims.iss], key));
        exchange.add("org/id", relationship);
        const token = await signOutside(key, { ...outsideClaims(shape.claims), ...changes });
        return await outcome(exchange.run({ identity: uid("org/id") }, token));
      }

      it("is allowed, and the identity may be created", async () => {
        const identity = create(IdentitySchema, { relationship });
        const options = { allowInsecureIssuers: false, now: startTime, createTime: startTime };
        assert.deepEqual(checkRelationship(identity, options), []);
        assert.equal(await run({}), "OK");
      });

      const denied = [
        ["iss", { iss: `${shape.claims.iss}/` }],
        ["sub", { sub: `${shape.claims.sub}\n` }],
        ["aud", { aud: ["https://elsewhere.example"] }],
        ...furtherOf(shape).map((claim) => [claim, { [claim]: "other value" }] as const),
        ...furtherOf(shape).map((claim) => [claim, { [claim]: undefined }] as const),
        ...furtherOf(shape).map((claim) => [claim, { [claim]: { value: shape.claims[claim] } }] as const),
      ] as const;
      for (const [claim, changes] of denied) {
        it(`is denied by ${claim}: ${JSON.stringify(changes)}`, async () => {
          const result = await run(changes);
          assert.ok(result.startsWith(`PERMISSION_DENIED Permission denied: invalid "${claim}": `), result);
        });
      }
    });
  }
}
