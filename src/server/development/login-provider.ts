// The login provider of development mode: a real OpenID provider on the same port, where users choose who they are.

import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { stripVTControlCharacters } from "node:util";
import type { Logger } from "pino";
import { once } from "../../base/lazy.ts";
import { goBack, markup, page } from "../../sign-in/html.ts";
import type { LoginProvider } from "../../sign-in/login-provider.ts";
import { MessageExchange } from "../../transport/http/exchange.ts";
import type { HttpHandler } from "../../transport/http/handlers.ts";
import { type HttpRequest, type HttpResponse, requestTarget } from "../../transport/http/message.ts";
import { sendPage } from "../../transport/pages/pages.ts";
import { chooserPage, readChoice } from "./person-chooser.ts";

/** The path of the provider. */
export const developmentPath = "/development/login";

/** The part of oidc-provider that is used; the package has no types. */
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

/** The part of the page context that is used. */
interface PageContext {
  body: string;
  set(headers: Readonly<Record<string, string>>): void;
}

/** The provider as a client sees it, and the handler that serves it. */
export interface DevelopmentLogin {
  readonly provider: LoginProvider;
  /** Handles requests below `developmentPath`. */
  readonly handler: HttpHandler;
}

const clientId = "gatehouse";

/** Creates the provider. Its package is loaded with the first request. */
export function developmentLogin(baseUrl: string, callbackUrl: string, log: Pick<Logger, "info">): DevelopmentLogin {
  const issuer = baseUrl + developmentPath;
  const clientSecret = randomBytes(32).toString("base64url");
  const open = once(() => notingWarnings(log, () => openProvider(issuer, clientSecret, callbackUrl)));
  return {
    // A user who signs in again may want to be someone else.
    provider: {
      uid: "",
      issuer,
      clientId,
      clientSecret,
      scopes: ["email", "profile"],
      parameters: { prompt: "login" },
    },
    async handler(request, response) {
      const provider = await open();
      const interaction = new RegExp(`^${developmentPath}/choose/[\\w-]+$`).exec(requestTarget(request).path);
      if (interaction) await choose(provider, request, response);
      else serve(provider, request, response);
    },
  };
}

async function openProvider(issuer: string, clientSecret: string, callbackUrl: string): Promise<Provider> {
  // @ts-expect-error: the package has no types.
  const { default: OidcProvider }: ProviderModule = await import("oidc-provider");
  return new OidcProvider(issuer, configurationFor(clientSecret, callbackUrl));
}

/**
 * Sends the warnings of the package to the log. It prints them to the console when it is loaded and when a provider is
 * created.
 */
async function notingWarnings<T>(log: Pick<Logger, "info">, work: () => Promise<T>): Promise<T> {
  const { warn } = console;
  console.warn = (warning: unknown) =>
    log.info({ event: "development_login", warning: stripVTControlCharacters(String(warning)) }, "sign-in");
  try {
    return await work();
  } finally {
    console.warn = warn;
  }
}

function configurationFor(clientSecret: string, callbackUrl: string): object {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [callbackUrl] }],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] },
    cookies: { keys: [randomBytes(32).toString("base64url")] },
    // Unused features, whose pages load styles from other hosts, like the error page.
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
    renderError,
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `${developmentPath}/choose/${uid}` },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    scopes: ["openid", "email", "profile", "groups"],
    // The claims of a scope are also in the ID token.
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => claimsOf(id) }),
    loadExistingGrant: grantAll,
    ttl: { Interaction: 600, Session: 600, Grant: 600, AuthorizationCode: 60, IdToken: 600, AccessToken: 600 },
  };
}

/** Renders an error; the status is set already. */
function renderError(
  context: PageContext,
  { error, error_description: description = "" }: Record<string, string>,
): void {
  const reply = page(400, "You are not signed in", markup`<p role="alert">${error ?? ""}: ${description}</p>${goBack}`);
  context.set({ "content-type": reply.contentType, "x-content-type-options": "nosniff", ...reply.headers });
  context.body = String(reply.text);
}

/** Grants all scopes without asking: the server belongs to the user, and the characters are invented. */
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
    // The user went back to it after it ended.
    const reasons = markup`<p role="alert">It is finished or took too long, or the browser keeps no cookies.</p>`;
    return sendPage(
      new MessageExchange(request, response),
      page(400, "This sign-in is over", markup`${reasons}\n${goBack}`),
    );
  }
  const accountId = readChoice(new URL(request.url ?? "", "http://localhost").searchParams);
  if (accountId === undefined) chooserPage(requestTarget(request).path, request, response);
  else await provider.interactionFinished(req, res, { login: { accountId } });
}

/** The package computes its mount path from the difference of two addresses, as in Express. */
function serve(provider: Provider, request: HttpRequest, response: HttpResponse): void {
  const original = request.url ?? "";
  Object.assign(request, { originalUrl: original });
  request.url = original.slice(developmentPath.length);
  provider.callback()(request as IncomingMessage, response as ServerResponse);
}
