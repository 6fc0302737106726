// The login providers that there are.
import { permissionDenied } from "../aip/errors.ts";
import type { LoginProvider } from "./login-provider.ts";

/** Finds login providers. */
export interface Providers {
  /** The provider of this uid, the operator's for an empty one; undefined when there is none. */
  find(uid: string): Promise<LoginProvider | undefined>;
  /** The provider that was asked for by uid or by the name of a verified organization. Throws when there is none. */
  choose(asked: string): Promise<LoginProvider>;
  /** Whether a verified organization of this name has a provider. */
  hasProvider(organization: string): Promise<boolean>;
}

/** The providers of an installation. */
export function loginProviders(operators: LoginProvider | undefined): Providers {
  const find: Providers["find"] = async (uid) => (uid === "" ? operators : undefined);
  return {
    find,
    async choose(asked) {
      const provider = await find(asked);
      if (provider) return provider;
      if (asked === "") throw permissionDenied("nobody can sign in here: the operator has set no login provider");
      throw permissionDenied("there is no such identity provider");
    },
    hasProvider: async () => false,
  };
}
