// Settings of the sign-in of users.
import { checkIssuer } from "../model/issuer-url.ts";
import { toList } from "./parse-setting.ts";
import { ConfigError, type RawSettings } from "./settings.ts";

/** The login provider, and the documents that users have to accept. */
export interface SignInConfig {
  /** The login provider of users; undefined if none is set. */
  readonly login: LoginConfig | undefined;
  readonly trustedEmailIssuers: readonly string[];
  readonly sharedEmailDomains: readonly string[];
  readonly termsDocuments: readonly string[];
}

/** The operator's login provider. */
export interface LoginConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** Empty for a public client. */
  readonly clientSecret: string;
  /** Besides `openid`. */
  readonly scopes: readonly string[];
}

/** Parses the settings of the sign-in. Development mode allows issuers with http on loopback. */
export function toSignInConfig(raw: RawSettings, dev: boolean): SignInConfig {
  return {
    login: toLogin(raw, dev),
    trustedEmailIssuers: toList(raw["trusted-email-issuers"]).map((issuer) => toTrustedIssuer(issuer, dev)),
    sharedEmailDomains: toList(raw["shared-email-domains"]).map(toEmailDomain),
    termsDocuments: toList(raw["terms-documents"]).map(toDocumentId),
  };
}

function toLogin(raw: RawSettings, dev: boolean): LoginConfig | undefined {
  const [issuer, clientId, clientSecret] = [raw["login-issuer"], raw["login-client-id"], raw["login-client-secret"]];
  if (issuer === "" && clientId === "" && clientSecret === "") return undefined;
  if (issuer === "" || clientId === "") throw new ConfigError("login-issuer, login-client-id: set both or neither.");
  const problem = checkIssuer(issuer, dev);
  if (problem) throw new ConfigError(`login-issuer: ${problem}.`);
  return { issuer, clientId, clientSecret, scopes: toList(raw["login-scopes"]) };
}

function toTrustedIssuer(issuer: string, dev: boolean): string {
  const problem = checkIssuer(issuer, dev);
  if (problem) throw new ConfigError(`trusted-email-issuers: ${JSON.stringify(issuer)} ${problem}.`);
  return issuer;
}

/**
 * Parses an e-mail domain. In another spelling it would match no address, and users of a shared domain could be taken
 * for an organization.
 */
function toEmailDomain(text: string): string {
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(text))
    throw new ConfigError(
      `shared-email-domains: ${JSON.stringify(text)} is not a domain in lower case such as gmail.com.`,
    );
  return text;
}

/** Parses the id of a document that users can accept. */
function toDocumentId(text: string): string {
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(text))
    throw new ConfigError(`terms-documents: ${JSON.stringify(text)} is not a document id such as tos.v1.`);
  return text;
}
