// Signs in to a registry (Distribution token specification; RFC 9110 §11).
import { isLoopbackUrl } from "../../base/address-ranges.ts";
import { allRepositoriesScope } from "../../registry-token/scope.ts";
import { reach } from "../client/reach.ts";
import { CommandFailure } from "../failure.ts";

/** The scope of the catalog (Distribution token specification). */
export const catalogScope = "registry:catalog:*";

/** User name and password. */
export interface RegistryCredentials {
  readonly user: string;
  readonly password: string;
}

/** The credentials for a sign-in: from flags, or from the session. */
export interface SignInOptions {
  /** Credentials for this registry; undefined if none were given. */
  readonly credentials: RegistryCredentials | undefined;
  /** The server of the session: its token is only sent there. */
  readonly sessionUrl: string;
  /** Returns the session's token for a registry's service name. */
  readonly sessionToken: (service: string) => Promise<string>;
}

/** Returns the Authorization header for a challenge; undefined if the scheme is not supported. */
export async function answerChallenge(
  challenge: string,
  scope: string,
  options: SignInOptions,
): Promise<string | undefined> {
  const scheme = /^[A-Za-z]+/.exec(challenge)?.[0].toLowerCase();
  const parameters = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  if (scheme === "basic") return options.credentials && basicHeader(options.credentials);
  const { realm, service = "" } = parameters;
  if (scheme !== "bearer" || realm === undefined) return undefined;
  return `Bearer ${await fetchToken(realm, service, scopeOf(scope, parameters.scope), options)}`;
}

/** A registry does not choose the scope: it would get a token for more than is read from it. */
function scopeOf(scope: string, challenged: string | undefined): string {
  return scope === catalogScope && challenged === allRepositoriesScope ? allRepositoriesScope : scope;
}

async function fetchToken(realm: string, service: string, scope: string, options: SignInOptions): Promise<string> {
  const url = URL.parse(realm);
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    throw new CommandFailure(`the registry names ${JSON.stringify(realm)} for its sign-in, which is not an address`);
  useOwnName(url, options.sessionUrl);
  url.searchParams.set("service", service);
  url.searchParams.set("scope", scope);
  const credentials = options.credentials ?? (await ownCredentials(url, service, options));
  const headers = credentials ? { authorization: basicHeader(credentials) } : {};
  const reply = await reach(`the sign-in of the registry at ${url.origin}`, url, { headers, redirect: "error" });
  const answer = (await reply.json().catch(() => ({}))) as { token?: unknown; access_token?: unknown };
  const token = answer.token ?? answer.access_token;
  if (reply.ok && typeof token === "string") return token;
  throw new CommandFailure(`the sign-in of the registry at ${url.origin} answers ${reply.status}`, {
    hint: "Name a user with --user, and set GATEHOUSE_REGISTRY_PASSWORD.",
  });
}

// A realm may say localhost where the client uses 127.0.0.1; at localhost, another program may listen on this port.
function useOwnName(url: URL, sessionUrl: string): void {
  const own = new URL(sessionUrl);
  const isHere = isLoopbackUrl(url) && isLoopbackUrl(own);
  if (isHere && url.protocol === own.protocol && url.port === own.port) url.hostname = own.hostname;
}

/** A registry may name any address as its realm: the session's token is only sent to its own server. */
async function ownCredentials(url: URL, service: string, { sessionUrl, sessionToken }: SignInOptions) {
  if (url.origin !== new URL(sessionUrl).origin) return undefined;
  return { user: "_token", password: await sessionToken(service) };
}

function basicHeader({ user, password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}
