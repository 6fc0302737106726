// The client secrets of an export.
import type { JsonObject } from "@bufbuild/protobuf";
import { OrganizationExportService } from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import type { Session } from "../client/session.ts";
import { textAt } from "../resources/json.ts";
import { missingSecretText } from "./format.ts";
import { readRecipient } from "./recipient.ts";

/** Encrypts the client secrets of identity providers for the recipient of an export, or leaves them out. */
export interface Secrets {
  /** Returns the other members in the line of a provider. */
  of(provider: JsonObject): Promise<{ encryptedClientSecret?: string }>;
  /** Secrets to set again after the import, as sentences. */
  readonly missing: readonly string[];
}

/** Reads the key of the recipient, if there is one. */
export async function openSecrets(session: Session, recipient: string | undefined): Promise<Secrets> {
  const missing: string[] = [];
  if (recipient === undefined) {
    return {
      missing,
      async of(provider) {
        missing.push(missingSecretText(textAt(provider, "name"), textAt(provider, "uid"), mustHaveSecret(provider)));
        return {};
      },
    };
  }
  const recipientKey = readRecipient(recipient);
  const client = await session.client(OrganizationExportService);
  return {
    missing,
    async of({ uid }) {
      const { jwe } = await client.exportClientSecret({ identityProviderUid: String(uid), recipientKey });
      return jwe === "" ? {} : { encryptedClientSecret: jwe };
    },
  };
}

/** Whether the provider works only with a client secret. */
function mustHaveSecret({ oidc }: JsonObject): boolean {
  return (oidc as JsonObject | undefined)?.pkceEnabled !== true;
}
