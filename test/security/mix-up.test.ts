// Mix-up of login providers (RFC 9700 §4.4): an organization's provider sends people on to the operator's, to have that
// provider's code sent to its own token endpoint.

import assert from "node:assert/strict";
import { createHash, hkdfSync, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { newEncryption } from "../../src/storage/installation/encryption.ts";
import { insertSignIn } from "../../src/storage/sign-in/sign-ins.ts";
import { type Browser, newBrowser, signInUrl, type Visit } from "../harness/browser.ts";
import { keptLog } from "../harness/kept-log.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { type RealProvider, startRealProvider } from "../sign-in/real-provider.ts";
import { turnableClock } from "./ground.ts";
import { viewerRole } from "./tree.ts";

const ours = { clientId: "gatehouse", clientSecret: "the operator's secret of this test" };

describe("two login providers, one of which is hostile", () => {
  let honest: RealProvider;
  let hostile: RealProvider;
  let server: TestServer;
  let provider: string;
  const log = keptLog();
  const clock = turnableClock();
  /** The codes that the hostile provider was sent. */
  const stolen: string[] = [];

  const callback = () => `${server.config.baseUrl}/oauth/callback`;
  const api = (method: string, path: string, body?: object) =>
    rest(server.url, server.ownerToken, method, `/iam/v2beta1/${path}`, body);

  async function createProvider(issuer: string, client: { clientId: string; clientSecret: string } = ours) {
    const { clientId, clientSecret } = client;
    const oidc = clientSecret === "" ? { issuer, clientId, pkceEnabled: true } : { issuer, clientId, clientSecret };
    const body = { name: `provider ${randomBytes(4).toString("hex")}`, defaultRole: viewerRole.uid, oidc };
    const created = await api("POST", `identityProviders/${server.groupUid}`, body);
    assert.equal(created.status, 200, JSON.stringify(created.body));
    return created.body.uid as string;
  }

  before(async () => {
    honest = await startRealProvider({ sendsIssuer: false });
    hostile = await startRealProvider({ sendsIssuer: false });
    server = await startTestServer({
      clock: clock.read,
      log: log.stream,
      settings: { loginIssuer: honest.issuer, loginClientId: ours.clientId, loginClientSecret: ours.clientSecret },
    });
    honest.register({ ...ours, redirectUris: [callback()] });
    provider = await createProvider(hostile.issuer);
    hostile.register({ ...ours, redirectUris: [`${callback()}/${provider}`] });
  });
  beforeEach(() => {
    stolen.length = 0;
    hostile.intercept = () => false;
    clock.advance(1000);
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await honest?.[Symbol.asyncDispose]();
    await hostile?.[Symbol.asyncDispose]();
  });

  const urlOf = (idp?: string) => {
    const url = new URL(signInUrl(server.url, idp === undefined ? {} : { idp_id: idp }));
    if (idp !== undefined) url.searchParams.delete("client_id");
    return url.href;
  };

  /** Begins a sign-in, and answers where the browser is sent. */
  async function begin(browser: Browser, idp?: string): Promise<URL> {
    const { headers, text: page } = await browser.request(urlOf(idp));
    return new URL(headers.get("location") ?? assert.fail(page));
  }

  /** Returns a user who is signed in at the honest provider. */
  function newPerson(name: string): Browser {
    const browser = newBrowser();
    honest.signIn(browser, name);
    return browser;
  }

  const subjectOf = ({ url }: Visit) => {
    const token = url.searchParams.get("token");
    return token && token !== "true" ? decodeJwt(token).sub : undefined;
  };

  /** Has the hostile provider keep the codes that come to its token endpoint. */
  async function keepCode(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    stolen.push(form.get("code") ?? "");
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
  }

  /** Has the hostile provider send browsers on to an address with the state that they come with, and keep codes. */
  function sendOn(address: (state: string) => string): void {
    hostile.intercept = (request, response) => {
      const url = new URL(request.url ?? "", hostile.issuer);
      if (url.pathname === "/token") void keepCode(request, response);
      else if (url.pathname === "/auth")
        response.writeHead(303, { location: address(url.searchParams.get("state") ?? "") }).end();
      else return false;
      return true;
    };
  }

  it("both sign people in as long as they do what they should", async () => {
    const browser = newPerson("anna");
    hostile.signIn(browser, "otto");
    assert.equal(subjectOf(await browser.visit(urlOf())), userUid(honest.issuer, "anna"));
    assert.equal(subjectOf(await browser.visit(urlOf(provider))), userUid(hostile.issuer, "otto"));
    const { searchParams } = await begin(newBrowser(), provider);
    assert.equal(searchParams.get("redirect_uri"), `${callback()}/${provider}`);
  });

  // The attacker starts the login with the nonce and the PKCE challenge of the attacked sign-in.
  const attacks: readonly [how: string, redirectUri: () => string][] = [
    ["back to the operator's redirect URI", callback],
    ["back to a redirect URI of its own", () => `${callback()}/${provider}`],
  ];
  for (const [how, redirectUri] of attacks) {
    it(`a provider that sends people on to the operator's provider, and from there ${how}, gets no code`, async () => {
      const attacker = newBrowser();
      const own = await begin(attacker);
      sendOn((state) => {
        const url = new URL(own);
        url.searchParams.set("state", state);
        url.searchParams.set("redirect_uri", redirectUri());
        url.searchParams.delete("prompt");
        return url.href;
      });
      const victim = await newPerson("victim").visit(urlOf(provider));
      const state = own.searchParams.get("state") ?? "";
      const guesses = await Promise.all(
        stolen.map((code) => attacker.visit(`${callback()}?${new URLSearchParams({ code, state })}`)),
      );
      assert.deepEqual(guesses.map(subjectOf), [], "the attacker is signed in as the victim");
      assert.deepEqual([subjectOf(victim), stolen], [undefined, []]);
    });
  }

  it("a provider whose discovery document names the operator's authorization endpoint gets no code", async () => {
    const copycat = await startRealProvider({ sendsIssuer: false });
    await using _ = copycat;
    copycat.intercept = (request, response) => {
      if (request.url === "/token") void keepCode(request, response);
      else if (request.url === "/.well-known/openid-configuration") {
        const at = (path: string) => copycat.issuer + path;
        const endpoints = { token_endpoint: at("/token"), jwks_uri: at("/jwks") };
        const document = {
          issuer: copycat.issuer,
          authorization_endpoint: `${honest.issuer}/auth`,
          ...endpoints,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256"],
          code_challenge_methods_supported: ["S256"],
        };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
      } else return false;
      return true;
    };
    const victim = await newPerson("victim").visit(urlOf(await createProvider(copycat.issuer)));
    assert.deepEqual([subjectOf(victim), stolen], [undefined, []]);
  });

  it("a second provider of the operator's issuer and client gets no code of the first", async () => {
    const twin = await createProvider(honest.issuer);
    const victim = await newPerson("victim").visit(urlOf(twin));
    assert.equal(subjectOf(victim), undefined);
    assert.match(victim.text, /invalid_redirect_uri|redirect_uri/);
  });

  it("a callback at another path than that of its provider gets no code and ends no sign-in; the log names the provider", async () => {
    const elsewhere = ["", "/", `/${provider}/`, `/${provider.toUpperCase()}x`, `/${provider.replace("/", "%2F")}`];
    for (const path of elsewhere) {
      const browser = newPerson("victim");
      const state = (await begin(browser, provider)).searchParams.get("state") ?? "";
      const back = (at: string) => browser.request(`${callback()}${at}?${new URLSearchParams({ code: "x", state })}`);
      const refused = await back(path);
      assert.equal(refused.status, 403, path);
      assert.match(refused.text, /came back from another login provider/, path);
      // At the right path the sign-in goes on, with a code that its provider does not know.
      const ended = new URL((await back(`/${provider}`)).headers.get("location") ?? assert.fail(path));
      assert.ok(ended.searchParams.get("error"), path);
    }
    assert.match(
      log.text(),
      new RegExp(`"provider":"${provider}","issuer":"${hostile.issuer}",[^\\n]*"check":"redirect_uri"`),
    );
    const browser = newPerson("victim");
    const state = (await begin(browser)).searchParams.get("state") ?? "";
    const other = await browser.request(`${callback()}/${provider}?${new URLSearchParams({ code: "x", state })}`);
    assert.equal(other.status, 403);
  });

  for (const change of ["issuer", "clientId"] as const) {
    it(`a provider whose ${change} was changed while the browser was away gets no code`, async () => {
      const changing = await createProvider(honest.issuer, { clientId: "changing", clientSecret: "secret before" });
      honest.register(
        { ...ours, redirectUris: [callback()] },
        { clientId: "changing", clientSecret: "secret before", redirectUris: [`${callback()}/${changing}`] },
      );
      const victim = newPerson("victim");
      let back = (await begin(victim, changing)).href;
      while (!back.startsWith(callback())) {
        const { headers, url } = await victim.request(back);
        back = new URL(headers.get("location") ?? assert.fail(url.href), back).href;
      }
      sendOn(() => assert.fail("nobody comes here"));
      const oidc = { ...(change === "issuer" ? { issuer: hostile.issuer } : { clientId: "other" }), clientSecret: "s" };
      const mask = `oidc.${change === "issuer" ? "issuer" : "client_id"},oidc.client_secret`;
      const updated = await api("PATCH", `identityProviders/${changing}?updateMask=${mask}`, { oidc });
      assert.equal(updated.status, 200, JSON.stringify(updated.body));
      const refused = await victim.visit(back);
      assert.match(refused.url.searchParams.get("error") ?? "", /the login provider was changed/);
      assert.deepEqual(stolen, []);
    });
  }

  describe("logins that an earlier version began", () => {
    /** Puts in the row of a login whose cookie the browser gets, as version 0.1 wrote it. */
    async function beginEarlier(browser: Browser, idp: string, codeVerifier: string, nonce: string): Promise<string> {
      const [state, cookie] = [randomBytes(32).toString("base64url"), randomBytes(32).toString("base64url")];
      const digest = (kind: string, of: string) => createHash("sha256").update(`login ${kind}\0${of}`).digest("hex");
      const id = digest("state", state);
      const request = {
        target: { redirect: "http://localhost:1/callback?token=true" },
        provider: idp,
        identity: "",
        invite: "",
        audience: [server.config.baseUrl],
        scopes: [],
        hints: {},
        wantsRefreshToken: false,
        skipsRegistration: false,
      };
      const encryption = newEncryption([Buffer.from(hkdfSync("sha256", state, "", "gatehouse login", 32))]);
      const login = JSON.stringify({ request, provider: idp, secrets: { state, nonce, codeVerifier } });
      const row = {
        id,
        browserDigest: digest("browser", cookie),
        expireTime: clock.read() + 60_000,
        sealed: encryption.encrypt({ kind: "sign_ins", uid: id, column: "sealed" }, login),
      };
      const context = { actor: "", method: "test", requestId: "", time: clock.read() };
      await server.server.database.write(context, (tx) => insertSignIn(tx, row, 1000));
      const { host } = new URL(server.url);
      const name = `gatehouse-login-${id.slice(0, 16)}`;
      browser.cookies.set(name, { host, path: "/", name, value: cookie });
      return state;
    }

    /** Returns the honest provider's address for a client whose redirect URI is the one of that version. */
    function authorization(state: string, nonce: string, codeVerifier: string): string {
      const url = new URL(`${honest.issuer}/auth`);
      url.search = new URLSearchParams({
        client_id: ours.clientId,
        redirect_uri: callback(),
        response_type: "code",
        scope: "openid",
        state,
        nonce,
        code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
        code_challenge_method: "S256",
      }).toString();
      return url.href;
    }

    it("end well at the operator's provider", async () => {
      const [browser, nonce, verifier] = [newPerson("early"), "n".repeat(43), "v".repeat(43)];
      const state = await beginEarlier(browser, "", verifier, nonce);
      const end = await browser.visit(authorization(state, nonce, verifier));
      assert.equal(subjectOf(end), userUid(honest.issuer, "early"));
    });

    it("have to start again at the provider of an organization, which gets no code", async () => {
      const [browser, nonce, verifier] = [newPerson("victim"), "n".repeat(43), "v".repeat(43)];
      sendOn(() => assert.fail("nobody comes here"));
      const state = await beginEarlier(browser, provider, verifier, nonce);
      const end = await browser.visit(authorization(state, nonce, verifier));
      assert.match(end.text, /sign in again/);
      assert.deepEqual([subjectOf(end), stolen], [undefined, []]);
    });
  });
});
