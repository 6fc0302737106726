// Finds login providers: the operator's, and those of organizations.
import { permissionDenied } from "../aip/errors.ts";
import { isUid } from "../model/uid.ts";
import { nameRule } from "../pipeline/text-rules.ts";
import { decryptClientSecret } from "../services/iam/identity-providers/client-secret.ts";
import { findRow } from "../storage/collection/rows.ts";
import type { Session } from "../storage/engine/session.ts";
import { identityProviderCollection } from "../storage/iam/collections.ts";
import { findVerifiedRoots } from "../storage/iam/group-names.ts";
import type { IdentityProviderRow } from "../storage/iam/provider-rows.ts";
import { findProvidersOf } from "../storage/iam/providers.ts";
import type { Encryption } from "../storage/installation/encryption.ts";
import type { LoginProvider } from "./login-provider.ts";

/** Finds login providers. */
export interface Providers {
  /** Returns the provider with this uid, or the operator's for an empty one. */
  find(uid: string): Promise<LoginProvider | undefined>;
  /** Returns the provider with this uid, or of the verified organization with this name. Throws if there is none. */
  choose(asked: string): Promise<LoginProvider>;
  /** Reports whether a verified organization with this name has a provider. */
  hasProvider(organization: string): Promise<boolean>;
}

/** Creates the finder of an installation's providers. */
export function loginProviders(
  session: Session,
  encryption: Encryption,
  operators: LoginProvider | undefined,
): Providers {
  const find: Providers["find"] = async (uid) => {
    if (uid === "") return operators;
    const row = isUid(uid) ? await findRow(session, identityProviderCollection, uid) : undefined;
    return row && toProvider(row, encryption);
  };
  return {
    find,
    async choose(asked) {
      const [only, second] = asked === "" || isUid(asked) ? [asked] : await providersOf(session, asked);
      if (second !== undefined) throw permissionDenied("the organization has several identity providers: name one");
      const provider = only === undefined ? undefined : await find(only);
      if (provider) return provider;
      if (asked === "") throw permissionDenied("nobody can sign in here: the operator has set no login provider");
      if (isUid(asked)) throw permissionDenied("there is no such identity provider");
      throw permissionDenied("no verified organization of this name has an identity provider");
    },
    hasProvider: async (organization) => (await providersOf(session, organization)).length > 0,
  };
}

/** Returns at most two uids. Only verified names identify an organization. */
async function providersOf(session: Session, organization: string): Promise<string[]> {
  const [root] = nameRule.test(organization) ? await findVerifiedRoots(session, organization) : [];
  return root ? (await findProvidersOf(session, root.uid, 2)).map(({ uid }) => uid) : [];
}

function toProvider(row: IdentityProviderRow, encryption: Encryption): LoginProvider {
  const { uid, issuer, clientId, additionalScopes: scopes, parent: groupUid, defaultRole, groupsClaim } = row;
  const clientSecret = decryptClientSecret(encryption, row) ?? "";
  return { uid, issuer, clientId, clientSecret, scopes, organization: { groupUid, defaultRole, groupsClaim } };
}
