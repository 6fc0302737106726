// The login provider of development mode: a real OpenID provider on the same port, where people choose who they are.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { HttpHandler } from "../doors/guard.ts";
import { type HttpRequest, type HttpResponse, requestTarget } from "../doors/http-message.ts";
import { sendPage } from "../doors/site.ts";
import { loader, once } from "../lazy.ts";
import { markup, page } from "../sign-in/html.ts";
import type { LoginProvider } from "../sign-in/login-provider.ts";
import { chooserPage, readChoice } from "./chooser.ts";

/** Where the provider is, below the base URL. */
export const developmentPath = "/development/login";

/** What is used of oidc-provider, which brings no types. */
interface Provider {
  callback(): RequestListener;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<unknown>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  readonly Grant: new (of: {
    accountId: string;
    clientId: string;
  }) => {
    addOIDCScope(scopes: string): void;
    save(): Promise<string>;
  };
}

type ProviderModule = { readonly default: new (issuer: string, configuration: object) => Provider };

interface OidcContext {
  readonly oidc: {
    readonly provider: Provider;
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
}

/** The provider as a client sees it, and what serves it. */
export interface DevelopmentLogin {
  readonly provider: LoginProvider;
  /** Takes the requests below `developmentPath`. */
  readonly handler: HttpHandler;
}

const clientId = "gatehouse";

const load = loader(import.meta.url);

/** Makes the provider. Its package is loaded when the first browser comes. */
export function developmentLogin(baseUrl: string, callbackUrl: string): DevelopmentLogin {
  const issuer = baseUrl + developmentPath;
  const clientSecret = randomBytes(32).toString("base64url");
  const open = once(() => openProvider(issuer, clientSecret, callbackUrl));
  return {
    // Somebody who signs in again may want to be somebody else.
    provider: {
      ...{ uid: "", issuer, clientId, clientSecret },
      scopes: ["email", "profile"],
      parameters: { prompt: "login" },
    },
    async handler(request, response) {
      const provider = open();
      const interaction = new RegExp(`^${developmentPath}/choose/[\\w-]+$`).exec(requestTarget(request).path);
      if (interaction) await choose(provider, request, response);
      else serve(provider, request, response);
    },
  };
}

function openProvider(issuer: string, clientSecret: string, callbackUrl: string): Provider {
  // Not by `import`: in the bundle that answers the whole module as its default, as it does for CommonJS.
  const { default: OidcProvider }: ProviderModule = load("oidc-provider");
  return new OidcProvider(issuer, configurationFor(clientSecret, callbackUrl));
}

function configurationFor(clientSecret: string, callbackUrl: string): object {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [callbackUrl] }],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] },
    cookies: { keys: [randomBytes(32).toString("base64url")] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `${developmentPath}/choose/${uid}` },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    scopes: ["openid", "email", "profile", "groups"],
    // What a scope brings stands in the ID token too.
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => claimsOf(id) }),
    loadExistingGrant: grantAll,
    ttl: { Interaction: 600, Session: 600, Grant: 600, AuthorizationCode: 60, IdToken: 600, AccessToken: 600 },
  };
}

/** Nobody is asked what a server that they run themselves may know of a made-up person. */
async function grantAll({ oidc: { provider, client, session } }: OidcContext) {
  const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
  grant.addOIDCScope("openid email profile groups");
  await grant.save();
  return grant;
}

function claimsOf(name: string): object {
  return { sub: name, name, email: `${name}@example.org`, email_verified: true, groups: [name] };
}

async function choose(provider: Provider, request: HttpRequest, response: HttpResponse): Promise<void> {
  const [req, res] = [request as IncomingMessage, response as ServerResponse];
  try {
    await provider.interactionDetails(req, res);
  } catch {
    // The browser lacks the cookie of the interaction, or was away for too long.
    return sendPage(request, response, page(400, "Begin anew", markup`<p>This sign-in is not under way any more.</p>`));
  }
  const accountId = readChoice(new URL(request.url ?? "", "http://localhost").searchParams);
  if (accountId === undefined) chooserPage(requestTarget(request).path, request, response);
  else await provider.interactionFinished(req, res, { login: { accountId } });
}

/** The package takes what it was mounted at from the difference of two addresses, as Express has them. */
function serve(provider: Provider, request: HttpRequest, response: HttpResponse): void {
  const original = request.url ?? "";
  Object.assign(request, { originalUrl: original });
  request.url = original.slice(developmentPath.length);
  provider.callback()(request as IncomingMessage, response as ServerResponse);
}
