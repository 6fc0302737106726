// The standard token endpoint, for OAuth libraries: token exchange (RFC 8693) and assertions (RFC 7523).
import { ApiError, Code, invalidField } from "../aip/errors.ts";
import { type Parameters, parameterOf, parametersOf, requiredParameterOf } from "../aip/parameters.ts";
import { parseBasic } from "../authn/basic.ts";
import { type CapabilitySet, capabilitySet, findCapabilityByName } from "../model/capabilities.ts";
import { isUid } from "../model/uid.ts";
import type { AssumptionDeps } from "../sts/assumable-identity.ts";
import type { Target } from "../sts/assumption.ts";
import type { Audiences } from "../sts/audiences.ts";
import { show } from "../sts/denials.ts";
import { type ExchangeDeps, exchangeToken } from "../sts/exchange.ts";
import { audienceProblem, maxExchangeValues } from "../sts/exchange-request.ts";
import { parseSubjectToken } from "../sts/subject-token.ts";
import type { Endpoint, EndpointRequest, EndpointResponse } from "../transport/pages/endpoints.ts";

/** The path of the endpoint below the base URL. */
export const tokenEndpointPath = "/sts/token";

/** A form has a token, a few names and scopes. */
const maxFormBytes = 64 * 1024;

/** The error codes of RFC 6749 §5.2 and RFC 8707 §2 that the endpoint returns. */
type OAuthError =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_scope"
  | "invalid_target"
  | "unsupported_grant_type";

const tokenTypes = {
  accessToken: "urn:ietf:params:oauth:token-type:access_token",
  idToken: "urn:ietf:params:oauth:token-type:id_token",
  jwt: "urn:ietf:params:oauth:token-type:jwt",
};

const jwtBearerAssertion = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** A grant: where its token is, and the error for a token that is denied. */
interface Grant {
  readonly denied: OAuthError;
  /** Returns the subject token of a form. Throws INVALID_ARGUMENT. */
  read(form: Parameters, issuer: string): string;
  /** Returns further members of the response. */
  respond?(form: Parameters): object;
}

const grants: Readonly<Record<string, Grant>> = {
  "urn:ietf:params:oauth:grant-type:token-exchange": {
    // RFC 8693 §2.2.2.
    denied: "invalid_request",
    read: readSubjectToken,
    respond: (form) => ({ issued_token_type: parameterOf(form, "requested_token_type") ?? tokenTypes.accessToken }),
  },
  "urn:ietf:params:oauth:grant-type:jwt-bearer": {
    // RFC 7523 §3.1.
    denied: "invalid_grant",
    read: (form) => requiredParameterOf(form, "assertion"),
  },
  client_credentials: {
    // RFC 7523 §3.2.
    denied: "invalid_client",
    read(form) {
      const type = requiredParameterOf(form, "client_assertion_type");
      if (type !== jwtBearerAssertion) throw invalidField("client_assertion_type", `must be ${jwtBearerAssertion}`);
      return requiredParameterOf(form, "client_assertion");
    },
  },
};

/** The grants of the endpoint, as metadata name them (RFC 8414 §2). */
export const grantTypes: readonly string[] = Object.keys(grants);

/** Dependencies of the endpoint. */
export type StandardTokenDeps = ExchangeDeps & Pick<AssumptionDeps, "directory">;

/** Creates the endpoint. */
export function standardTokenEndpoint(deps: StandardTokenDeps): Endpoint {
  return {
    methods: ["POST"],
    maxBodyBytes: maxFormBytes,
    handle: async (request) => {
      const form = request.form();
      checkQuery(request.query);
      const grantType = requiredParameterOf(form, "grant_type");
      const grant = Object.hasOwn(grants, grantType) ? grants[grantType]! : undefined;
      if (!grant) throw oauthError("unsupported_grant_type", `grant_type: must be ${grantTypes.join(", ")}`);
      const token = grant.read(form, deps.issuer);
      const scope = readScope(form);
      const audience = readAudience(form, deps.audiences);
      const identity = readClient(request, form);
      const target: Target = { identity, isGroupAllowed: true, groups: scope.scopes ?? [] };
      const wanted = { ...target, ...scope, audience, identityProvider: "" };
      const issued = await exchangeToken(deps, token, wanted, request.call).catch((error: unknown) => {
        throw deniedBy(grant, error);
      });
      return json(200, {
        access_token: issued.token,
        token_type: "Bearer",
        expires_in: Math.max(0, Math.floor((issued.expiresAt - deps.clock()) / 1000)),
        ...(scope.text !== "" && { scope: scope.text }),
        ...grant.respond?.(form),
      });
    },
    refuse,
  };
}

/** A token in the query would end up in logs (security case X14). */
function checkQuery(query: Parameters): void {
  const [foreign] = query.filter(([name]) => name !== "identity");
  if (foreign) throw invalidField(show(foreign[0]), "must be in the form: the query has identity only");
}

function readSubjectToken(form: Parameters, issuer: string): string {
  if (parameterOf(form, "actor_token") !== undefined) throw invalidField("actor_token", "is not supported");
  const requested = parameterOf(form, "requested_token_type") ?? tokenTypes.accessToken;
  if (requested !== tokenTypes.accessToken && requested !== tokenTypes.jwt)
    throw invalidField("requested_token_type", `must be ${tokenTypes.accessToken} or ${tokenTypes.jwt}`);
  const token = requiredParameterOf(form, "subject_token");
  const type = requiredParameterOf(form, "subject_token_type");
  if (type !== tokenTypes.jwt && type !== tokenTypes.idToken && type !== tokenTypes.accessToken)
    throw invalidField("subject_token_type", `must be ${Object.values(tokenTypes).join(", ")}`);
  // RFC 8693 §3: the access tokens of other issuers are for their own resources, and say nothing here.
  if (type === tokenTypes.accessToken && parseSubjectToken(token)?.issuer !== issuer)
    throw invalidField(
      "subject_token_type",
      `must be ${tokenTypes.jwt} or ${tokenTypes.idToken} for a token of another issuer`,
    );
  return token;
}

/** The uid of the identity or group that the client names: in the form, in Basic credentials or in the query. */
function readClient({ call, query }: EndpointRequest, form: Parameters): string {
  const named = new Set(
    [readBasic(call.header("authorization")), parameterOf(form, "client_id"), parameterOf(query, "identity")].filter(
      Boolean,
    ),
  );
  const [client = "", second] = named;
  if (second !== undefined) throw invalidField("client_id", "must be the same wherever it is given");
  if (client !== "" && !isUid(client)) throw invalidField("client_id", "must be the uid of an identity or a group");
  if (parameterOf(form, "client_secret")) throw oauthError("invalid_client", "client_secret: identities have none");
  return client;
}

/** Returns the user name of Basic credentials. RFC 6749 §2.3.1: it is encoded as in a form. */
function readBasic(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const { user, password } = parseBasic(header) ?? {};
  if (user === undefined)
    throw oauthError("invalid_client", "authorization: only Basic with a client id is understood");
  if (password !== "") throw oauthError("invalid_client", "authorization: identities have no client secret");
  try {
    return decodeURIComponent(user.replaceAll("+", " "));
  } catch {
    throw oauthError("invalid_client", "authorization: the client id is not encoded as in a form");
  }
}

/** RFC 8693 §2.1 and RFC 8707 §2. */
function readAudience(form: Parameters, audiences: Audiences): string[] {
  const named = ["audience", "resource"].flatMap((name) => parametersOf(form, name));
  if (named.length > maxExchangeValues) throw invalidField("audience", `must have at most ${maxExchangeValues} values`);
  const found = named.map((text) => {
    const audience = audiences.find(text);
    if (audience === undefined) throw oauthError("invalid_target", `audience: ${audienceProblem(text, audiences)}`);
    return audience;
  });
  // The first audience is the base URL.
  return found.length > 0 ? [...new Set(found)] : audiences.names.slice(0, 1);
}

/** The scope that the libraries of Google ask for by default: it narrows nothing. */
const everything = "https://www.googleapis.com/auth/cloud-platform";

/** The limits that a scope sets. */
interface ReadScope {
  /** The scope as the response repeats it; empty if the token is not narrowed. */
  readonly text: string;
  readonly scopes: readonly string[] | undefined;
  readonly capabilities: CapabilitySet | undefined;
}

/** Reads uids of groups and names of capabilities, separated by spaces (RFC 6749 §3.3). */
function readScope(form: Parameters): ReadScope {
  const named = [...new Set((parameterOf(form, "scope") ?? "").split(" ").filter((text) => text !== ""))];
  const isNarrowed = named.length > 0 && !(named.length === 1 && named[0] === everything);
  if (!isNarrowed) return { text: "", scopes: undefined, capabilities: undefined };
  if (named.length > maxExchangeValues)
    throw oauthError("invalid_scope", `scope: must have at most ${maxExchangeValues} values`);
  const scopes = named.filter(isUid);
  const numbers = named
    .filter((text) => !isUid(text))
    .map((text) => {
      const capability = findCapabilityByName(text);
      if (!capability)
        throw oauthError("invalid_scope", `scope: "${show(text)}" is neither the uid of a group nor a capability`);
      return capability.number;
    });
  return {
    text: named.join(" "),
    scopes: scopes.length > 0 ? scopes : undefined,
    capabilities: numbers.length > 0 ? capabilitySet(numbers) : undefined,
  };
}

/** Returns the error of a grant whose token was denied. Other errors are returned unchanged. */
function deniedBy({ denied }: Grant, error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== Code.PERMISSION_DENIED) return error;
  return oauthError(denied, error.message, error);
}

/** RFC 6749 §5.2: `invalid_client` is 401, the others are 400. */
function oauthError(reason: OAuthError, message: string, cause?: ApiError): ApiError {
  const code = reason === "invalid_client" ? Code.UNAUTHENTICATED : Code.INVALID_ARGUMENT;
  return new ApiError(code, message, { reason, metadata: cause?.metadata ?? {}, cause });
}

function refuse({ reason, message }: ApiError, status: number): EndpointResponse {
  const isOAuth = reason.startsWith("invalid_") || reason.startsWith("unsupported_");
  const refused = json(status, {
    error: isOAuth ? reason : (generalErrors[status] ?? "invalid_request"),
    // RFC 6749 §5.2: neither quotation marks nor characters other than printable ASCII.
    error_description: message
      .replaceAll('"', "'")
      .replaceAll("\\", "/")
      .replace(/[^\x20-\x7e]/g, "?"),
  });
  // RFC 6749 §5.2: the challenge has the scheme of clients, which is not that of the API.
  return status === 401 ? { ...refused, headers: { ...refused.headers, ...clientChallenge } } : refused;
}

const clientChallenge = { "www-authenticate": 'Basic realm="gatehouse", charset="UTF-8"' };

/** The error codes of statuses that are not about the request (RFC 6749 §4.1.2.1). */
const generalErrors: Readonly<Record<number, string>> = {
  429: "temporarily_unavailable",
  500: "server_error",
  503: "temporarily_unavailable",
  504: "temporarily_unavailable",
};

function json(status: number, value: object): EndpointResponse {
  // RFC 6749 §5.1.
  const headers = { "content-type": "application/json", "cache-control": "no-store", pragma: "no-cache" };
  return { status, headers, body: `${JSON.stringify(value)}\n` };
}
