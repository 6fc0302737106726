// A login provider on loopback that does as a test tells it: right by default, or wrong in one thing.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { newBrowser, signInUrl } from "../harness/browser.ts";
import {
  discoveryPath,
  keyPair,
  keySetText,
  type OutsideKeyPair,
  signOutside,
  startServer,
  writeJson,
} from "../sts/outside.ts";

export const client = { id: "gatehouse-client", secret: "canary-client-secret" };

/** Deviations of the provider from correct behaviour. */
export interface Behaviour {
  /** Claims of the next ID tokens, over those that are right. */
  claims?: Record<string, unknown>;
  /** The signing key. */
  key?: OutsideKeyPair;
  /** Parameters of the next redirects back, over those that are right; undefined leaves one out. */
  callback?: Record<string, string | undefined>;
  /** The response of the token endpoint, in place of the correct one. */
  token?: { status: number; body: object };
}

interface Authorization {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

/** Starts a provider; everybody is signed in there at once. */
export async function startUpstream() {
  const key = keyPair("RS256");
  const behaviour: Behaviour = {};
  const codes = new Map<string, Authorization>();
  const requests: URLSearchParams[] = [];
  const server = await startServer();
  const base = server.url;
  server.answers[discoveryPath] = {
    issuer: base,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    jwks_uri: `${base}/keys`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
  server.answers["/keys"] = JSON.parse(keySetText(key));
  server.answers["/token"] = (request, response) => void answerToken(request, response);

  /** Returns the address that the browser is sent back to from an authorization URL. */
  function authorize(url: URL): string {
    const query = url.searchParams;
    requests.push(query);
    const code = randomBytes(16).toString("hex");
    const [challenge, nonce, redirectUri] = ["code_challenge", "nonce", "redirect_uri"].map(
      (name) => query.get(name) ?? "",
    );
    codes.set(code, { challenge: challenge!, nonce: nonce!, redirectUri: redirectUri! });
    const back = new URL(redirectUri!);
    const parameters = { code, state: query.get("state") ?? "", ...behaviour.callback };
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) back.searchParams.set(name, value);
    return back.href;
  }

  async function answerToken(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    const authorization = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    // RFC 6749 §2.3.1: both parts are form-encoded before they are joined.
    const [, basic = ""] = (request.headers.authorization ?? "").split(" ");
    const credentials = decodeURIComponent(Buffer.from(basic, "base64").toString());
    const isRight =
      authorization?.challenge === challenge &&
      authorization.redirectUri === form.get("redirect_uri") &&
      credentials === `${client.id}:${client.secret}`;
    if (behaviour.token || !isRight) {
      const { status, body } = behaviour.token ?? { status: 400, body: { error: "invalid_grant" } };
      response.statusCode = status;
      return writeJson(response, body);
    }
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: base,
      sub: "person",
      aud: client.id,
      iat: now,
      exp: now + 300,
      nonce: authorization.nonce,
      email: "person@example.org",
      email_verified: true,
      name: "Some Person",
      ...behaviour.claims,
    };
    const idToken = await signOutside(behaviour.key ?? key, claims);
    writeJson(response, { access_token: "canary-access-token", token_type: "Bearer", id_token: idToken });
  }

  return {
    issuer: base,
    behaviour,
    authorize,
    answers: server.answers,
    /** The queries that browsers came with. */
    requests,
    /** The paths that it was asked for by others than browsers. */
    asked: server.requests,
    /** An ID token that was issued to another client. */
    idToken(changes: Record<string, unknown> = {}): Promise<string> {
      const now = Math.floor(Date.now() / 1000);
      return signOutside(key, {
        iss: base,
        sub: "person",
        aud: client.id,
        iat: now,
        exp: now + 60 * 86_400,
        ...changes,
      });
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export type Upstream = Awaited<ReturnType<typeof startUpstream>>;

/** Returns the settings of a server whose login provider this is. */
export function loginSettings({ issuer }: Pick<Upstream, "issuer">): Record<string, string> {
  return { loginIssuer: issuer, loginClientId: client.id, loginClientSecret: client.secret };
}

/**
 * Signs a person with these claims in, with a new browser. Returns what the command line is told: the tokens, or the error. The provider is
 * that of `idp_id`, otherwise that of the server.
 */
export async function signInBy(
  upstream: Upstream,
  serverUrl: string,
  parameters: Readonly<Record<string, string>>,
  claims: Record<string, unknown>,
): Promise<URLSearchParams> {
  upstream.behaviour.claims = claims;
  const browser = newBrowser();
  const url = new URL(signInUrl(serverUrl, parameters));
  if (parameters.idp_id) url.searchParams.delete("client_id");
  const begun = await browser.request(url.href);
  const there = new URL(begun.headers.get("location") ?? assert.fail(begun.text));
  // Some errors come before the provider is asked.
  if (there.origin !== upstream.issuer) return there.searchParams;
  const end = await browser.request(upstream.authorize(there));
  return new URL(end.headers.get("location") ?? assert.fail(end.text)).searchParams;
}
