// Checks whether credentials of an associated account can be obtained. Failures are part of the response, not errors.
import {
  type AccountAssociation,
  AccountProviderType,
  CheckStatus,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { invalidField } from "../../../aip/errors.ts";

/** The providers whose credentials can be checked. */
const providers: ReadonlyMap<AccountProviderType, CloudProvider> = new Map([
  [AccountProviderType.GOOGLE, "google"],
  [AccountProviderType.AMAZON, "amazon"],
  [AccountProviderType.AZURE, "azure"],
]);

/** A cloud provider, by the name of its member in an association. */
export type CloudProvider = "google" | "amazon" | "azure";

/** Exchanges credentials of an account. Rejects if that fails; the error message is shown to the caller. */
export type CredentialExchange = (provider: CloudProvider, association: AccountAssociation) => Promise<void>;

/** The result of a check. */
export interface Readiness {
  readonly status: CheckStatus;
  readonly reason: string;
  readonly message: string;
}

/** Throws INVALID_ARGUMENT unless the type names a provider. */
export function requireProvider(type: AccountProviderType): void {
  if (!providers.has(type))
    throw invalidField(
      "provider_type",
      "must be ACCOUNT_PROVIDER_TYPE_GOOGLE, ACCOUNT_PROVIDER_TYPE_AMAZON or ACCOUNT_PROVIDER_TYPE_AZURE",
    );
}

/** Checks the credentials of one provider. Without `exchange`, the account is not ready. */
export async function checkReadiness(
  type: AccountProviderType,
  association: AccountAssociation | undefined,
  exchange: CredentialExchange | undefined,
): Promise<Readiness> {
  const provider = providers.get(type);
  if (provider === undefined || !association?.[provider])
    return notReady(
      "not configured",
      `the group has no associated ${provider} account; add one to its account association`,
    );
  const failed = "error exchanging credentials";
  if (!exchange) return notReady(failed, `this installation does not support the exchange of ${provider} credentials`);
  try {
    await exchange(provider, association);
    return { status: CheckStatus.READY, reason: "", message: "" };
  } catch (error) {
    return notReady(failed, error instanceof Error ? error.message : String(error));
  }
}

function notReady(reason: string, message: string): Readiness {
  return { status: CheckStatus.NOT_READY, reason, message };
}
