// Token exchange (RFC 8693 in spirit): a token of an outside issuer, or one of ours, for an API token of an identity.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ExchangeRequest, RawTokenSchema } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { permissionDenied } from "../aip/errors.ts";
import { parseBearer } from "../authn/bearer.ts";
import type { Issuers } from "../authn/issuers.ts";
import type { Tokens } from "../authn/tokens.ts";
import type { Grants } from "../authz/access.ts";
import type { Clock } from "../clock.ts";
import type { Call } from "../pipeline/call.ts";
import { type Assumption, assumeOwn, assumeWithOutsideToken, type IdentityDirectory } from "./assumption.ts";
import { assumeWithAwsRequest } from "./aws-assumption.ts";
import { type AwsEndpoint, identityOf } from "./aws-caller.ts";
import { type AwsRequest, parseAwsRequest } from "./aws-request.ts";
import { noToken, show } from "./denials.ts";
import { readExchangeRequest } from "./exchange-request.ts";
import { narrow, shownGrants } from "./narrowing.ts";
import { type PresentedToken, parsePresented } from "./presented-token.ts";

/** What an exchange rests on. */
export interface ExchangeDeps {
  readonly directory: IdentityDirectory;
  readonly grants: { grantsOf(uid: string): Promise<Grants> };
  readonly issuers: Issuers;
  readonly tokens: Pick<Tokens, "issue" | "verify">;
  /** Our base URL: the `iss` of our tokens and, with or without its scheme, the default audience of outside ones. */
  readonly issuer: string;
  /** The audiences that may be asked for. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
  /** What verifies the signed requests of AWS identities. */
  readonly aws: AwsEndpoint;
  /** Told of each token that was looked at. */
  readonly log?: (event: ExchangeEvent) => void;
}

/** What happened to a presented token; texts of strangers are cut and escaped. */
export interface ExchangeEvent {
  readonly event: "token_issued" | "token_refused";
  /** The uid of the identity; empty when none was named or found. */
  readonly identity: string;
  readonly issuer: string;
  readonly subject: string;
}

/** A token of an issuer, or a signed request that AWS verifies. Issuer and subject are what it claims. */
type Presented = PresentedToken | { readonly aws: AwsRequest; readonly issuer: string; readonly subject: string };

/** Makes the Exchange method. */
export function createExchange(deps: ExchangeDeps) {
  return async (request: ExchangeRequest, call: Call): Promise<MessageInitShape<typeof RawTokenSchema>> => {
    // RFC 6749 §5.1: no cache may keep what follows, an error neither.
    call.replyHeaders.set("cache-control", "no-store");
    const wanted = readExchangeRequest(request, deps.audiences);
    const presented = readPresented(call);
    try {
      // None is known yet. Never passed over, since its tokens are for the identities of one organization only.
      if (wanted.identityProvider !== "") throw permissionDenied("the identity provider is not known");
      const assumption = await assume(deps, wanted.identity, presented);
      checkAudience(wanted.audience, assumption);
      const grants = await deps.grants.grantsOf(assumption.uid);
      const narrowing = narrow(wanted, assumption.narrowing, grants);
      const issued = await deps.tokens.issue({
        ...assumption.claims,
        subject: assumption.uid,
        audience: wanted.audience,
        grants: shownGrants(narrowing, grants),
        narrowing,
      });
      await deps.directory.touch(assumption.uid, deps.clock());
      deps.log?.(eventOf("token_issued", assumption.uid, presented));
      return { token: issued.token, expiry: timestampFromMs(issued.expiresAt) };
    } catch (error) {
      deps.log?.(eventOf("token_refused", wanted.identity, presented));
      throw error;
    }
  };
}

// The header alone: a token in the query would end up in logs (security case X14).
function readPresented(call: Call): Presented {
  const bearer = parseBearer(call.header("authorization"));
  if ("problem" in bearer) throw noToken(bearer.problem);
  const presented = parsePresented(bearer.token);
  if (presented) return presented;
  const aws = parseAwsRequest(bearer.token);
  if (!aws) throw noToken("malformed");
  return { aws, issuer: "AWS", subject: identityOf(aws) };
}

function assume(deps: ExchangeDeps, identity: string, presented: Presented): Promise<Assumption> {
  if ("aws" in presented) return assumeWithAwsRequest(deps, identity, presented.aws);
  if (presented.issuer === deps.issuer) return assumeOwn(deps, identity, presented);
  return assumeWithOutsideToken(deps, identity, presented);
}

// Security case X3: one of our tokens never becomes one for another audience.
function checkAudience(wanted: readonly string[], { audience }: Assumption): void {
  const beyond = audience && wanted.find((one) => !audience.includes(one));
  if (beyond !== undefined) throw permissionDenied("the presented token is for other audiences", { aud: beyond });
}

function eventOf(event: ExchangeEvent["event"], identity: string, { issuer, subject }: Presented): ExchangeEvent {
  return { event, identity, issuer: show(issuer), subject: show(subject) };
}
