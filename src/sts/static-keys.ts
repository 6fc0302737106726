// Identities with static keys: the server never contacts their issuer (behaviour of pull tokens).
import { hash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import {
  type Identity_ClaimMatch,
  Identity_ClaimMatchSchema,
  type Identity_StaticKeys,
} from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { checkPublicKeySet, type KeySet, type OutsideKey, parseKeySet, selectKeys } from "../authn/key-sets.ts";

/** Returns the claims that tokens must have, as a claim match. */
export function staticKeysMatch({ issuer, subject, audiences }: Identity_StaticKeys): Identity_ClaimMatch {
  const [audience] = audiences;
  return create(Identity_ClaimMatchSchema, {
    iss: { case: "issuer", value: issuer },
    sub: { case: "subject", value: subject },
    ...(audience !== undefined && { aud: { case: "audience", value: audience } }),
  });
}

/** The maximum number of keys of an identity: some per algorithm, and their successors. */
const maxStaticKeys = 10;

/**
 * Returns the rule that a JSON text breaks as the keys of an identity, without the field's name, or undefined if it is
 * valid. Text that is not JSON passes: the published Terraform provider stores such text and expects it back. It has no
 * keys.
 */
export function checkStaticKeySet(issuerKeys: string): string | undefined {
  const document = parseJson(issuerKeys);
  return document === undefined ? undefined : checkPublicKeySet(document, maxStaticKeys);
}

/** Parses a JWK set. Returns no keys if the text is not one. */
export function staticKeySet({ issuerKeys }: Identity_StaticKeys): KeySet {
  return { find: async (hint) => selectKeys(keysOf(issuerKeys), hint) };
}

// Importing a key costs as much as a signature check. Cached by digest, so no text is kept.
const read = new LRUCache<string, readonly OutsideKey[]>({
  max: 1000,
  maxSize: 5000,
  sizeCalculation: (keys) => 1 + keys.length,
});

function keysOf(issuerKeys: string): readonly OutsideKey[] {
  const digest = hash("sha256", issuerKeys);
  const known = read.get(digest);
  if (known) return known;
  const keys = parseKeySet(parseJson(issuerKeys)) ?? [];
  read.set(digest, keys);
  return keys;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
