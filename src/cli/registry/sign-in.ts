// How a registry wants to be signed in to, and with what (Distribution token specification; RFC 9110 §11).
import { isLoopbackUrl } from "../../authn/addresses.ts";
import { reach } from "../client/reach.ts";
import { CommandFailure } from "../failure.ts";

/** A name and a password. */
export interface RegistryCredentials {
  readonly user: string;
  readonly password: string;
}

/** What the person has said, or what their session has. */
export interface SignInOptions {
  /** Given for this registry; undefined when nothing was. */
  readonly credentials: RegistryCredentials | undefined;
  /** The server that the session is for: only there may its token be shown. */
  readonly sessionUrl: string;
  /** The token of the session for what a registry calls itself. */
  readonly sessionToken: (service: string) => Promise<string>;
}

/** Makes the Authorization header that a challenge asks for; undefined when it asks for something else. */
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
  return `Bearer ${await fetchToken(realm, service, scope, options)}`;
}

async function fetchToken(realm: string, service: string, scope: string, options: SignInOptions): Promise<string> {
  const url = URL.parse(realm);
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    throw new CommandFailure(`the registry names ${JSON.stringify(realm)} for its sign-in, which is no address`);
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

// Clients that ask for no token at 127.0.0.1 have realms say localhost, which may be another program's at this port.
function useOwnName(url: URL, sessionUrl: string): void {
  const own = new URL(sessionUrl);
  const isHere = isLoopbackUrl(url) && isLoopbackUrl(own);
  if (isHere && url.protocol === own.protocol && url.port === own.port) url.hostname = own.hostname;
}

/** A registry may name any address: the token of the session goes to its own server and to no other. */
async function ownCredentials(url: URL, service: string, { sessionUrl, sessionToken }: SignInOptions) {
  if (url.origin !== new URL(sessionUrl).origin) return undefined;
  return { user: "_token", password: await sessionToken(service) };
}

function basicHeader({ user, password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}
