// The tokens that were presented for an identity, and the replay of rules on them.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ReplayedToken_Verdict as Outcome,
  type ReplayRuleRequest,
  type ReplayRuleResponseSchema,
  type SeenTokenSchema,
} from "../../../../gen/gatehouse/iam/v1/seen_tokens_pb.ts";
import type { WorkloadTrustService } from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import { invalidArgument, invalidField } from "../../../aip/errors.ts";
import { formatPageToken } from "../../../aip/page-token.ts";
import { effectivePageSize, effectiveSkip } from "../../../aip/pagination.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import { dayMs } from "../../../base/clock.ts";
import { mapSliced } from "../../../base/slices.ts";
import { noTrust } from "../../../model/trust.ts";
import { parentOf } from "../../../model/uid.ts";
import { expensive } from "../../../pipeline/expensive.ts";
import type { Handlers } from "../../../pipeline/handlers.ts";
import { clientOf } from "../../../pipeline/observe.ts";
import { queryDigest, readToken } from "../../../resource/bound-page-token.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { type SeenTokenClearing, seenTokenClearingKind } from "../../../storage/change-log/access-entries.ts";
import { clearSeenTokens, countSeenTokens, listSeenTokens, type SeenToken } from "../../../storage/iam/seen-tokens.ts";
import type { Audiences } from "../../../sts/audiences.ts";
import { checkClaimMatch } from "../../../sts/identity-rules.ts";
import { newReplay, type Verdict } from "../../../sts/trust/replay.ts";
import { claimTextsOf, parseShape } from "../../../sts/trust/token-shape.ts";
import { effectivePolicy, requireIdentity } from "./directory.ts";

/** The dependencies of the methods. */
export interface SeenTokensContext extends Pick<ServiceContext, "database" | "clock" | "pageTokenKey" | "settings"> {
  /** The audiences that rules without one accept: at token exchange, and at the sign-in of the registry. */
  readonly defaultAudiences: Audiences;
  readonly registryAudiences: Audiences;
}

type Methods = Pick<Handlers<typeof WorkloadTrustService>, "listSeenTokens" | "replayRule" | "clearSeenTokens">;

const maxDays = 400;

/** More than one identity has. */
const allRows = { after: undefined, skip: 0, limit: 10_000 };

/** Returns the methods for seen tokens. */
export function seenTokenMethods(context: SeenTokensContext): Methods {
  const { database, clock, pageTokenKey } = context;
  return {
    async listSeenTokens(request, call) {
      const violations = newViolations();
      const size = effectivePageSize(request.pageSize, violations);
      const skip = effectiveSkip(request.skip, violations);
      violations.throwIfAny();
      const query = queryDigest(call, request);
      const token = readToken(context, call, request.pageToken, query);
      const after = token && { lastTime: Number(token.value), digest: token.uid };
      const filter = { identityUid: request.identity, since: 0 };
      return await database.read(async (session) => {
        await requireIdentity(session, request.identity);
        const found = await listSeenTokens(session, filter, { after, skip, limit: size + 1 });
        const shown = found.slice(0, size);
        const last = shown.at(-1);
        const next = last && { issuedAt: clock(), query, order: "", value: last.lastTime, uid: last.digest };
        return {
          seenTokens: shown.map(toMessage),
          nextPageToken: next && found.length > size ? formatPageToken(pageTokenKey, next) : "",
          totalCount: BigInt(await countSeenTokens(session, filter)),
        };
      });
    },
    replayRule: expensive((request: ReplayRuleRequest) => replayRule(context, request)),
    async clearSeenTokens({ identity }, call) {
      return await database.write(writeContext(call, clock), async (tx) => {
        await requireIdentity(tx, identity);
        const tokens = await clearSeenTokens(tx, identity);
        const after: SeenTokenClearing = { tokens, ...clientOf(call) };
        const groupUid = identity.includes("/") ? parentOf(identity) : "";
        tx.logChange({ kind: seenTokenClearingKind, uid: identity, groupUid, before: null, after });
        return { deletedCount: BigInt(tokens) };
      });
    },
  };
}

async function replayRule(
  { database, clock, settings, defaultAudiences, registryAudiences }: SeenTokensContext,
  { identity, claimMatch, days }: ReplayRuleRequest,
): Promise<MessageInitShape<typeof ReplayRuleResponseSchema>> {
  if (!claimMatch) throw invalidField("claim_match", "is required");
  if (days < 0 || days > maxDays) throw invalidField("days", `must be from 0 to ${maxDays}`);
  const violations = checkClaimMatch(claimMatch, settings);
  if (violations.length > 0) throw invalidArgument(violations);
  const since = days === 0 ? 0 : clock() - days * dayMs;
  const { row: stored, rows } = await database.read(async (session) => ({
    row: await requireIdentity(session, identity),
    rows: await listSeenTokens(session, { identityUid: identity, since }, allRows),
  }));
  const pins = { trust: stored.trust ?? noTrust, policy: effectivePolicy(stored, settings.pinNames) };
  const decide = newReplay(claimMatch, pins);
  const tokens = await mapSliced(rows, (row) => {
    const verdict = decide(parseShape(row.claims), row.isRegistry ? registryAudiences : defaultAudiences);
    return {
      verdict: outcomeOf(verdict, row.failedCheck === ""),
      failedCheck: verdict.outcome === "allowed" ? "" : verdict.check,
      token: toMessage(row),
    };
  });
  return { tokens: tokens.sort((one, other) => one.verdict - other.verdict), totals: totalsOf(tokens) };
}

function outcomeOf({ outcome }: Verdict, wasAccepted: boolean): Outcome {
  if (outcome === "undecidable") return Outcome.NOT_DECIDABLE;
  if (outcome === "allowed") return wasAccepted ? Outcome.AGREED_ALLOWED : Outcome.NEWLY_ALLOWED;
  return wasAccepted ? Outcome.NEWLY_DENIED : Outcome.AGREED_DENIED;
}

function totalsOf(tokens: readonly { readonly verdict: Outcome; readonly token: { readonly count: bigint } }[]) {
  return [...Map.groupBy(tokens, ({ verdict }) => verdict)].map(([verdict, group]) => ({
    verdict,
    tokens: BigInt(group.length),
    exchanges: group.reduce((sum, { token }) => sum + token.count, 0n),
  }));
}

function toMessage({ claims, failedCheck, isRegistry, count, firstTime, lastTime }: SeenToken) {
  return {
    claims: claimTextsOf(parseShape(claims)),
    accepted: failedCheck === "",
    failedCheck,
    registry: isRegistry,
    count: BigInt(count),
    firstTime: toTimestamp(firstTime),
    lastTime: toTimestamp(lastTime),
  } satisfies MessageInitShape<typeof SeenTokenSchema>;
}
