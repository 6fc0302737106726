// The emulated issuers: each tenant has one of each kind, with discovery, a key set, and tokens with any claims.
import { randomUUID } from "node:crypto";
import { invalidField, notFound } from "../../aip/errors.ts";
import { discoveryPath } from "../../authn/discovery.ts";
import { signJws } from "../../authn/jws.ts";
import { type LoadedKey, loadKey, newKey } from "../../authn/signing-key.ts";
import type { Clock } from "../../base/clock.ts";
import { isJsonObject } from "../../base/json.ts";
import type { EndpointRequest } from "../../transport/pages/endpoints.ts";
import { type IssuerKind, issuerKinds, jobClaims } from "./job-claims.ts";
import { emulatorLimits } from "./limits.ts";
import { readDuration, readFields } from "./requests.ts";

/** The prefix of the paths of all issuers. */
export const issuersPath = "/emulator/issuers/";

/** The lifetime of a token unless the request names another: that of a token of GitHub Actions. */
const defaultLifetimeMs = 300_000;

/** The emulated issuers. */
export interface EmulatedIssuers {
  /** Returns the addresses of the issuers of a tenant. */
  urlsOf(tenant: string): Readonly<Record<IssuerKind, string>>;
  /** Returns the response to a request below `issuersPath`. `requireAdmin` throws unless it has the admin token. */
  answer(request: EndpointRequest, requireAdmin: () => void): Promise<object>;
}

/** The dependencies of the issuers. */
export interface IssuersOptions {
  readonly baseUrl: string;
  readonly clock: Clock;
}

/** Makes the issuers. All have one key, and each token names its issuer. */
export async function newIssuers({ baseUrl, clock }: IssuersOptions): Promise<EmulatedIssuers> {
  const key = loadKey(await newKey("ES256", clock()));
  const urlOf = (tenant: string, kind: string) => `${baseUrl}${issuersPath}${tenant}/${kind}`;
  const answers: Readonly<Record<string, Answer>> = {
    [`GET ${discoveryPath}`]: (issuer) => discoveryDocument(issuer),
    "GET /jwks": () => ({ keys: [key.publicJwk] }),
    async "POST :token"(issuer, kind, request, requireAdmin) {
      requireAdmin();
      return { token: await signToken(key, issuer, kind, request, { baseUrl, now: clock() }) };
    },
  };
  return {
    urlsOf: (tenant) =>
      Object.fromEntries(issuerKinds.map((kind) => [kind, urlOf(tenant, kind)])) as Record<IssuerKind, string>,
    async answer(request, requireAdmin) {
      const [, tenant = "", name, rest] = /^(\w+)\/(\w+)(\W.*)$/.exec(request.path.slice(issuersPath.length)) ?? [];
      const kind = issuerKinds.find((each) => each === name);
      const answer = answers[`${request.method} ${rest}`];
      if (!answer || !kind) throw notFound("issuer", request.path);
      return await answer(urlOf(tenant, kind), kind, request, requireAdmin);
    },
  };
}

type Answer = (
  issuer: string,
  kind: IssuerKind,
  request: EndpointRequest,
  requireAdmin: () => void,
) => object | Promise<object>;

function discoveryDocument(issuer: string): object {
  return {
    issuer,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
  };
}

async function signToken(
  key: LoadedKey,
  issuer: string,
  kind: IssuerKind,
  request: EndpointRequest,
  { baseUrl, now }: { readonly baseUrl: string; readonly now: number },
): Promise<string> {
  const { claims: given = {}, lifetime } = readFields(request, ["claims", "lifetime"]);
  if (!isJsonObject(given)) throw invalidField("claims", "must be a JSON object");
  const lifetimeMs = readDuration(lifetime, "lifetime", emulatorLimits.tokenLifetimeMs) ?? defaultLifetimeMs;
  const iat = Math.floor(now / 1000);
  const times = { iat, nbf: iat, exp: iat + Math.floor(lifetimeMs / 1000) };
  const claims = { ...jobClaims[kind](given), iss: issuer, aud: baseUrl, jti: randomUUID(), ...times, ...given };
  // A claim that is null is left out, to test what happens without it.
  return await signJws(Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null)), key);
}
