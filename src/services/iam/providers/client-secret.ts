import { failedPrecondition } from "../../../aip/errors.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import type { ColumnRef, Encryption } from "../../../storage/installation/encryption.ts";

/** The client secret of an identity provider; undefined when it has none. Throws DecryptionError. */
export function openClientSecret(
  seals: Encryption,
  { uid, clientSecret }: Pick<IdentityProviderRow, "uid" | "clientSecret">,
): string | undefined {
  return clientSecret === null ? undefined : seals.decrypt(placeOf(uid), clientSecret);
}

/** A client secret as it is stored: never in the clear. */
export function sealClientSecret(seals: Encryption, uid: string, secret: string): string {
  if (seals.keyId === undefined) {
    throw failedPrecondition(
      "SECRETS_KEY_MISSING",
      "a client secret cannot be stored without a key to seal it with; the operator sets secrets-key (GATEHOUSE_SECRETS_KEY)",
      uid,
    );
  }
  return seals.encrypt(placeOf(uid), secret);
}

function placeOf(uid: string): ColumnRef {
  return { kind: "identity_providers", uid, column: "clientSecret" };
}
