import type { ExchangeRequest } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { ApiError, Code, type FieldViolation, invalidArgument } from "../aip/errors.ts";
import { type CapabilitySet, capabilitySet, findCapabilityByName } from "../model/capabilities.ts";
import { isUid } from "../model/uid.ts";
import type { Target } from "./assumption.ts";
import type { Audiences } from "./audiences.ts";
import { show } from "./denials.ts";

/** The parameters of the requested token. */
export interface WantedToken extends Target {
  readonly audience: readonly string[];
  readonly identityProvider: string;
  /** The groups to limit the token to. Undefined means no limit. */
  readonly scopes: readonly string[] | undefined;
  /** The capabilities to limit the token to. Undefined means no limit. */
  readonly capabilities: CapabilitySet | undefined;
}

/** The maximum number of values in each repeated field. */
export const maxExchangeValues = 100;

/** Validates a request and reports all violations at once. `audiences` are the accepted ones. */
export function readExchangeRequest(request: ExchangeRequest, audiences: Audiences): WantedToken {
  if (request.aud.length === 0) throw noAudience();
  const violations = checkRequest(request, audiences);
  if (violations.length > 0) throw invalidArgument(violations);
  const { aud, identity, identityProvider, scope, scopes, cap } = request;
  const wantedScopes = unique(scope === "" ? scopes : [scope, ...scopes]);
  return {
    audience: unique(aud.map((text) => audiences.find(text)!)),
    identity,
    identityProvider,
    groups: wantedScopes,
    scopes: wantedScopes.length > 0 ? wantedScopes : undefined,
    capabilities: cap.length > 0 ? capabilitySet(cap.map((name) => findCapabilityByName(name)!.number)) : undefined,
  };
}

/**
 * Returns the violation for an audience that is not accepted. Accepted audiences are public: any token contains one.
 */
export function audienceProblem(text: string, { names }: Audiences): string {
  return `"${show(text)}" is not an accepted audience; accepted: ${names.join(", ")}`;
}

/** Returns the exact message that the platform's SDK expects; the details name field and rule. */
function noAudience(): ApiError {
  const { details } = invalidArgument([{ field: "aud", description: "at least one audience is required" }]);
  return new ApiError(Code.INVALID_ARGUMENT, "Audience must be specified", { details });
}

function checkRequest(request: ExchangeRequest, audiences: Audiences): FieldViolation[] {
  const { aud, identity, identityProvider, scope, scopes, cap } = request;
  return [
    ...checkEach(
      "aud",
      aud,
      (text) => audienceProblem(text, audiences),
      (text) => audiences.find(text) !== undefined,
    ),
    ...checkOptional("identity", identity),
    ...checkOptional("identity_provider", identityProvider),
    ...checkOptional("scope", scope),
    ...checkEach("scopes", scopes, () => "must be the uid of a group", isUid),
    ...checkEach(
      "cap",
      cap,
      () => "must be the name of a capability",
      (text) => findCapabilityByName(text) !== undefined,
    ),
  ];
}

function checkEach(
  field: string,
  values: readonly string[],
  problemOf: (text: string) => string,
  isGood: (text: string) => boolean,
) {
  if (values.length > maxExchangeValues)
    return [{ field, description: `must have at most ${maxExchangeValues} values` }];
  return values.flatMap((value, index) =>
    isGood(value) ? [] : [{ field: `${field}[${index}]`, description: problemOf(value) }],
  );
}

function checkOptional(field: string, uid: string): FieldViolation[] {
  return uid === "" || isUid(uid) ? [] : [{ field, description: "must be a uid" }];
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
