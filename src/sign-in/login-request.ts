// Validates a request to /oauth (with the parameters that the platform's SDK sends).
import { type FieldViolation, invalidArgument, invalidField } from "../aip/errors.ts";
import { isUid } from "../model/uid.ts";
import type { Audiences } from "../sts/audiences.ts";
import { audienceProblem } from "../sts/exchange-request.ts";
import { parseRedirect } from "./redirect.ts";

/** A sign-in that begins a session of the browser itself. */
export interface SessionTarget {
  /** The address of the page that opens afterwards. */
  readonly page: string;
  /** The session that the browser has, which ends then; empty for none. */
  readonly replaces: string;
}

/** A requested sign-in. */
export interface LoginRequest {
  /**
   * The receiver of the token: a loopback address, the public key of a device without a browser, or a session of this browser, which then
   * opens a page of the console.
   */
  readonly target: { readonly redirect: string } | { readonly headlessCode: string } | SessionTarget;
  /** The uid of an identity provider, or the name of a verified organization; empty for the operator's provider. */
  readonly provider: string;
  readonly audience: readonly string[];
  /** The uid of the identity to assume; empty for the user's own. */
  readonly identity: string;
  /** The code of an invite, or empty. */
  readonly invite: string;
  /** Uids or names of groups to limit the token to. */
  readonly scopes: readonly string[];
  readonly wantsRefreshToken: boolean;
  readonly skipsRegistration: boolean;
  /** Passed on to the provider's page. */
  readonly hints: Readonly<Record<string, string>>;
}

/** The maximum length of a parameter's value, in UTF-16 units. */
const maxValueLength = 2048;
/** The maximum number of audiences, and of scopes, in one request. */
const maxValues = 20;

/** 32 bytes in base64url without padding; the last character has four unused bits. */
const headlessCode = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/**
 * Returns the target of the request, which also receives errors.
 *
 * Throws INVALID_ARGUMENT if it is not valid; the error is then shown on a page.
 */
export function readTarget(query: URLSearchParams): Exclude<LoginRequest["target"], SessionTarget> {
  const code = query.get("headless_code");
  const redirect = query.get("redirect");
  if (code !== null && redirect !== null) throw invalidField("redirect", "must not be given with headless_code");
  if (code !== null) {
    if (!headlessCode.test(code)) throw invalidField("headless_code", "must be an X25519 public key in base64url");
    return { headlessCode: code };
  }
  const parsed = parseRedirect(redirect ?? "");
  if (!parsed) throw invalidField("redirect", "must be an http address on localhost, 127.0.0.1 or [::1]");
  return { redirect: parsed.href };
}

/** Reads the other parameters. Throws INVALID_ARGUMENT with all violations. */
export function readLoginRequest(
  query: URLSearchParams,
  target: LoginRequest["target"],
  audiences: Audiences,
): LoginRequest {
  const violations: FieldViolation[] = [];
  const need = (isGood: boolean, field: string, description: string) => {
    if (!isGood) violations.push({ field, description });
  };
  for (const [name, value] of query)
    need(value.length <= maxValueLength, name.slice(0, 64), `must be at most ${maxValueLength} characters`);
  const one = (name: string) => query.get(name) ?? "";
  const audience = listOf(query.getAll("audience").flatMap((value) => value.split(",")));
  const scopes = listOf(query.getAll("scope").map(decodeAgain));
  const unknown = audience.find((text) => audiences.find(text) === undefined);
  need(unknown === undefined, "audience", audienceProblem(unknown ?? "", audiences));
  need(audience.length <= maxValues, "audience", `must have at most ${maxValues} values`);
  need(scopes.length <= maxValues, "scope", `must have at most ${maxValues} values`);
  need(one("identity") === "" || isUid(one("identity")), "identity", "must be a uid");
  need(one("idp_id") === "" || one("client_id") === "", "idp_id", "must not be given with client_id");
  if (violations.length > 0) throw invalidArgument(violations);
  const hints = ["connection", "screen_hint"].map((name) => [name, one(name)]).filter(([, value]) => value !== "");
  return {
    target,
    provider: one("idp_id"),
    audience: audience.length > 0 ? listOf(audience.map((text) => audiences.find(text)!)) : audiences.names.slice(0, 1),
    identity: one("identity"),
    invite: one("invite"),
    scopes,
    wantsRefreshToken: one("create_refresh_token") === "true",
    skipsRegistration: one("skip_registration") === "true",
    hints: Object.fromEntries(hints),
  };
}

function listOf(values: readonly string[]): string[] {
  return [...new Set(values.filter((value) => value !== ""))];
}

/** The SDK escapes the values of `scope` twice. */
function decodeAgain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
