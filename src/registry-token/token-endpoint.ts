// The token endpoint of the Distribution specification, where registry clients sign in (docker, skopeo, crane, …).

import { type ApiError, Code, invalidField, unauthenticated } from "../aip/errors.ts";
import { parameterOf, parametersOf, requiredParameterOf } from "../aip/parameters.ts";
import { parseBasic } from "../authn/basic.ts";
import { type FailureLimiter, withFailureLimit } from "../authn/failure-limiter.ts";
import type { Database } from "../storage/database.ts";
import type { NameRules } from "../storage/registry/repository-name.ts";
import { exactAudiences } from "../sts/audiences.ts";
import { audienceProblem } from "../sts/exchange-request.ts";
import { parseSubjectToken } from "../sts/subject-token.ts";
import type { Endpoint, EndpointRequest, EndpointResponse } from "../transport/pages/endpoints.ts";
import { type Credentials, type SignInDeps, signIn } from "./credentials.ts";
import { grantAccess } from "./grants.ts";
import { parseScopes } from "./scope.ts";
import type { Grant, RegistrySigner } from "./signer.ts";

/** Dependencies of the endpoint. */
export interface TokenEndpointDeps extends SignInDeps {
  readonly database: Database;
  readonly signer: RegistrySigner;
  /** The service name of the registry. */
  readonly service: string;
  readonly names: NameRules;
  /** Limits invalid credentials per client address. */
  readonly failures: FailureLimiter;
  /** Called for each issued token. */
  readonly log: (event: { readonly identity: string; readonly access: readonly string[] }) => void;
}

/** A form contains a password, a few names and scopes. */
const maxFormBytes = 64 * 1024;

/** The request, in either form. */
interface TokenQuestion {
  readonly credentials: Credentials;
  readonly service: string | undefined;
  readonly scopes: readonly string[];
}

/** Creates the endpoint: GET with Basic credentials, and POST as in OAuth 2. */
export function tokenEndpoint(deps: TokenEndpointDeps): Endpoint {
  return {
    methods: ["GET", "POST"],
    maxBodyBytes: maxFormBytes,
    async handle(request) {
      const { credentials, service, scopes } = read(request);
      // A client of a registry whose challenge has no service sends an empty one.
      if (service && service !== deps.service)
        throw invalidField("service", audienceProblem(service, exactAudiences(deps.service)));
      const wanted = parseScopes(scopes);
      const caller = await withFailureLimit(deps.failures, {
        source: request.call.clientAddress,
        expensive: {
          text: `${credentials.user}\0${credentials.password}`,
          isForeign: () => parseSubjectToken(credentials.password)?.issuer !== deps.issuer,
        },
        verify: () => signIn(deps, credentials),
      });
      const access = await grantAccess(deps.database, caller.access, wanted, deps.names);
      const issued = await deps.signer.sign({ subject: caller.uid, access, notAfter: caller.notAfter });
      deps.log({ identity: caller.uid, access: access.map(scopeText) });
      return json(200, {
        token: issued.token,
        access_token: issued.token,
        scope: access.map(scopeText).join(" "),
        expires_in: issued.expiresIn,
        issued_at: new Date(issued.issuedAt * 1000).toISOString(),
      });
    },
    refuse,
  };
}

function read(request: EndpointRequest): TokenQuestion {
  return request.method === "POST" ? readForm(request) : readQuery(request);
}

function readQuery({ call, query }: EndpointRequest): TokenQuestion {
  const credentials = parseBasic(call.header("authorization"));
  // No access is public, so a token without an identity would be useless.
  if (!credentials)
    throw unauthenticated('sign in with the user name "_token", and an API token for the registry as the password');
  return { credentials, service: parameterOf(query, "service"), scopes: parametersOf(query, "scope") };
}

// RFC 6749 §4.3.2 and §6.
function readForm(request: EndpointRequest): TokenQuestion {
  const form = request.form();
  const required = (name: string) => requiredParameterOf(form, name);
  const rest = { service: parameterOf(form, "service"), scopes: parametersOf(form, "scope") };
  switch (required("grant_type")) {
    case "password":
      return { ...rest, credentials: { user: required("username"), password: required("password") } };
    case "refresh_token":
      // Clients that store a token without a user name send it this way: the token identifies itself.
      return { ...rest, credentials: { user: "", password: required("refresh_token") } };
    default:
      throw invalidField("grant_type", "must be password or refresh_token");
  }
}

/** Returns an error in the form of both specifications: Distribution clients read `errors`, OAuth 2 clients `error` (RFC 6749 §5.2). */
function refuse({ code, message }: ApiError, status: number): EndpointResponse {
  const isCredential = code === Code.UNAUTHENTICATED;
  const error = isCredential ? "invalid_grant" : code === Code.INVALID_ARGUMENT ? "invalid_request" : "server_error";
  const reason = isCredential ? "UNAUTHORIZED" : code === Code.RESOURCE_EXHAUSTED ? "TOOMANYREQUESTS" : "UNSUPPORTED";
  const reply = json(status, { errors: [{ code: reason, message }], error, error_description: message });
  // RFC 9110 §11.6.1.
  const challenge = { "www-authenticate": 'Basic realm="gatehouse", charset="UTF-8"' };
  return isCredential ? { ...reply, headers: { ...reply.headers, ...challenge } } : reply;
}

function json(status: number, value: unknown): EndpointResponse {
  return { status, headers: { "content-type": "application/json" }, body: `${JSON.stringify(value)}\n` };
}

function scopeText({ type, name, actions }: Grant): string {
  return `${type}:${name}:${actions.join(",")}`;
}
