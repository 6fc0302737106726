// Identities whose keys are given with them: no issuer is ever contacted (behaviour of pull tokens).
import { create } from "@bufbuild/protobuf";
import {
  type Identity_ClaimMatch,
  Identity_ClaimMatchSchema,
  type Identity_StaticKeys,
} from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { fromTimestamp } from "../aip/timestamps.ts";
import { type KeySet, parseKeySet, selectKeys } from "../authn/key-sets.ts";

/** How long after its creation an identity with static keys can be assumed at most, in milliseconds. */
export const maxStaticKeysAge = 365 * 24 * 60 * 60 * 1000;

/** When the keys stop to serve, in milliseconds since the epoch; `createTime` is the identity's. */
export function staticKeysExpiry({ expirationTime }: Identity_StaticKeys, createTime: number): number {
  const latest = createTime + maxStaticKeysAge;
  return expirationTime ? Math.min(fromTimestamp(expirationTime), latest) : latest;
}

/** The claims that tokens must have, in the terms of a claim match. */
export function staticKeysMatch({ issuer, subject, audiences }: Identity_StaticKeys): Identity_ClaimMatch {
  const [audience] = audiences;
  return create(Identity_ClaimMatchSchema, {
    iss: { case: "issuer", value: issuer },
    sub: { case: "subject", value: subject },
    ...(audience !== undefined && { aud: { case: "audience", value: audience } }),
  });
}

/** The keys of a JWK set given as text; none when it is not one, since any text may be stored. */
export function staticKeySet({ issuerKeys }: Identity_StaticKeys): KeySet {
  return { find: async (hint) => selectKeys(parseKeySet(parseJson(issuerKeys)) ?? [], hint) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
