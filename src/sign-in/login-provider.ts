/** An OpenID provider that users sign in with, and this server's client there. */
export interface LoginProvider {
  /** The uid of the organization's identity provider; empty for the operator's. */
  readonly uid: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Empty for a public client. */
  readonly clientSecret: string;
  /** Besides `openid`. */
  readonly scopes: readonly string[];
  /** Additional parameters of the authorization request. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The grants of an organization's provider to its users. The operator's provider grants nothing. */
  readonly organization?: {
    readonly groupUid: string;
    /** The uid of the role that users get at their first sign-in. */
    readonly defaultRole: string;
    /** The claim with the user's groups; empty for none. */
    readonly groupsClaim: string;
  };
}
