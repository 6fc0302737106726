import { failedPrecondition } from "../../../aip/errors.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import type { ColumnRef, Encryption } from "../../../storage/installation/encryption.ts";

/** Decrypts the client secret of an identity provider; undefined if it has none. Throws if no key decrypts it. */
export function decryptClientSecret(
  encryption: Encryption,
  { uid, clientSecret }: Pick<IdentityProviderRow, "uid" | "clientSecret">,
): string | undefined {
  return clientSecret === null ? undefined : encryption.decrypt(placeOf(uid), clientSecret);
}

/** Encrypts a client secret for storage. Throws FAILED_PRECONDITION if the installation has no key. */
export function encryptClientSecret(encryption: Encryption, uid: string, secret: string): string {
  if (encryption.keyId === undefined) {
    throw failedPrecondition(
      "SECRETS_KEY_MISSING",
      "a client secret cannot be stored without an encryption key; the operator sets secrets-key (GATEHOUSE_SECRETS_KEY)",
      uid,
    );
  }
  return encryption.encrypt(placeOf(uid), secret);
}

function placeOf(uid: string): ColumnRef {
  return { kind: "identity_providers", uid, column: "clientSecret" };
}
