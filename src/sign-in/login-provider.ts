/** An OpenID provider that people sign in with, and what this server is there. */
export interface LoginProvider {
  /** The uid of the organization's identity provider; empty for the operator's. */
  readonly uid: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Empty for a public client. */
  readonly clientSecret: string;
  /** Beside `openid`. */
  readonly scopes: readonly string[];
  /** Further parameters of the request that the browser is sent with. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** What the organization gives to people who come by it; the operator's provider gives nothing. */
  readonly organization?: {
    readonly groupUid: string;
    /** The uid of the role that is bound the first time. */
    readonly defaultRole: string;
    /** The claim that lists a person's groups there; empty for none. */
    readonly groupsClaim: string;
  };
}
