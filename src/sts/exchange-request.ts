import type { ExchangeRequest } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { ApiError, Code, type FieldViolation, invalidArgument } from "../aip/errors.ts";
import { type CapabilitySet, capabilitySet, findCapabilityByName } from "../authz/capabilities.ts";
import { isUid } from "../uid.ts";

/** What a caller wants of the new token. */
export interface WantedToken {
  readonly audience: readonly string[];
  /** The uid of the identity to assume; empty to leave it to the presented token. */
  readonly identity: string;
  readonly identityProvider: string;
  /** Group uids to narrow to; undefined for no narrowing. */
  readonly scopes: readonly string[] | undefined;
  /** Capabilities to narrow to; undefined for no narrowing. */
  readonly capabilities: CapabilitySet | undefined;
}

/** How many values each repeated field may have. */
const maxValues = 100;

/** Checks a request, all violations at once; `audiences` are those that may be asked for. */
export function readExchangeRequest(request: ExchangeRequest, audiences: readonly string[]): WantedToken {
  if (request.aud.length === 0) throw noAudience();
  const violations = checkRequest(request, audiences);
  if (violations.length > 0) throw invalidArgument(violations);
  const { aud, identity, identityProvider, scope, scopes, cap } = request;
  const wantedScopes = unique(scope === "" ? scopes : [scope, ...scopes]);
  return {
    audience: unique(aud),
    identity,
    identityProvider,
    scopes: wantedScopes.length > 0 ? wantedScopes : undefined,
    capabilities: cap.length > 0 ? capabilitySet(cap.map((name) => findCapabilityByName(name)!.number)) : undefined,
  };
}

/** The words that the platform's SDK expects, bare; the field and the rule are in the details. */
function noAudience(): ApiError {
  const { details } = invalidArgument([{ field: "aud", description: "at least one audience is required" }]);
  return new ApiError(Code.INVALID_ARGUMENT, "Audience must be specified", { details });
}

function checkRequest(request: ExchangeRequest, audiences: readonly string[]): FieldViolation[] {
  const { aud, identity, identityProvider, scope, scopes, cap } = request;
  return [
    ...checkEach("aud", aud, "must be an audience of this service", (text) => audiences.includes(text)),
    ...checkOptional("identity", identity),
    ...checkOptional("identity_provider", identityProvider),
    ...checkOptional("scope", scope),
    ...checkEach("scopes", scopes, "must be the uid of a group", isUid),
    ...checkEach("cap", cap, "must be the name of a capability", (text) => findCapabilityByName(text) !== undefined),
  ];
}

function checkEach(field: string, values: readonly string[], rule: string, isGood: (text: string) => boolean) {
  if (values.length > maxValues) return [{ field, description: `must have at most ${maxValues} values` }];
  return values.flatMap((value, index) => (isGood(value) ? [] : [{ field: `${field}[${index}]`, description: rule }]));
}

function checkOptional(field: string, uid: string): FieldViolation[] {
  return uid === "" || isUid(uid) ? [] : [{ field, description: "must be a uid" }];
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
