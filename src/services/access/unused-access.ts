// Lists role bindings that nobody used for a while, with advice and the evidence for it.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  AccessUsageService,
  type BindingUsageSchema,
  type ListUnusedAccessRequest,
  ListUnusedAccessRequestSchema,
  type ListUnusedAccessResponseSchema,
  UsageAdvice,
} from "../../../gen/gatehouse/access/v1/access_usage_pb.ts";
import { formatPageToken } from "../../aip/page-token.ts";
import { effectivePageSize, effectiveSkip } from "../../aip/pagination.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { newViolations } from "../../aip/violations.ts";
import { dayMs } from "../../base/clock.ts";
import { compareTexts } from "../../base/compare-texts.ts";
import { namesOfNumbers } from "../../model/capabilities.ts";
import { rangeBelow } from "../../model/uid.ts";
import type { Call } from "../../pipeline/call.ts";
import { allExpensive } from "../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { uidRule } from "../../pipeline/text-rules.ts";
import { queryDigest, readToken } from "../../resource/bound-page-token.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { Session } from "../../storage/engine/session.ts";
import { accessRecording } from "../../storage/iam/access-usage.ts";
import { roleBindingCollection } from "../../storage/iam/collections.ts";
import {
  everyBinding,
  findObservedBindings,
  findUsedCapabilities,
  type ObservedBinding,
  observedSince,
  type UsedCapability,
  unusedSince,
} from "../../storage/iam/unused-bindings.ts";
import { countScanned, type Scan, scanRows } from "../../storage/list/scan.ts";
import { requireFewBindings } from "./few-bindings.ts";
import { showBinding } from "./shown-binding.ts";
import { identityShower } from "./shown-identities.ts";

/** The bounds of the days without a use, and their number if the request has none. */
export const unusedDays = { least: 7, most: 400, usual: 90 };

/** Serves the uses of role bindings. */
export function accessUsage(context: ServiceContext): Implementation {
  return implement(AccessUsageService, allExpensive({ listUnusedAccess: listUnusedAccess(context) }), [
    { schema: ListUnusedAccessRequestSchema, fields: { parent: uidRule } },
  ]);
}

function listUnusedAccess(context: ServiceContext) {
  const { database, clock, pageTokenKey } = context;
  return async (
    request: ListUnusedAccessRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ListUnusedAccessResponseSchema>> => {
    const { size, skip, days } = readRequest(request);
    const query = queryDigest(call, request);
    const after = readToken(context, call, request.pageToken, query)?.uid ?? "";
    const since = clock() - days * dayMs;
    return await database.read(async (session) => {
      await requireFewBindings(session, request.parent);
      const scan = scanOf(request, since);
      const ranges = [rangeBelow(request.parent)];
      const found = await scanRows(session, scan, ranges, { after, skip, limit: size + 1 });
      const shown = found.slice(0, size);
      const next = { issuedAt: clock(), query, order: "", value: "", uid: shown.at(-1) ?? "" };
      const recorded = await accessRecording.since(session);
      return {
        bindings: await show(session, shown, { since, recorded, parent: request.parent }, call),
        nextPageToken: found.length > size ? formatPageToken(pageTokenKey, next) : "",
        totalCount: BigInt(await countScanned(session, scan, ranges, "")),
        skipped: skip,
        ...(recorded !== undefined && { recordedSinceTime: toTimestamp(recorded) }),
      };
    });
  };
}

function readRequest({ pageSize, skip, unusedDays: days }: ListUnusedAccessRequest) {
  const violations = newViolations();
  const page = { size: effectivePageSize(pageSize, violations), skip: effectiveSkip(skip, violations) };
  const { least, most, usual } = unusedDays;
  if (days !== 0 && (days < least || days > most))
    violations.add("unused_days", `must be from ${least} to ${most}, or 0 for ${usual}`);
  violations.throwIfAny();
  return { ...page, days: days || usual };
}

function scanOf({ showUsed }: ListUnusedAccessRequest, since: number): Scan {
  return {
    kind: roleBindingCollection.kind,
    table: ({ roleBindings }) => roleBindings,
    uid: ({ roleBindings }) => roleBindings.uid,
    condition: showUsed ? everyBinding : unusedSince(since),
  };
}

/** The circumstances on which the advice depends, besides the role binding. */
interface Observation {
  /** The beginning of the days without a use. */
  readonly since: number;
  /** Since when uses are recorded; undefined if none are. */
  readonly recorded: number | undefined;
  readonly parent: string;
}

async function show(
  session: Session,
  uids: readonly string[],
  observation: Observation,
  call: Call,
): Promise<MessageInitShape<typeof BindingUsageSchema>[]> {
  const bindings = await findObservedBindings(session, uids);
  const used = Map.groupBy(await findUsedCapabilities(session, uids), ({ uid }) => uid);
  const holders = bindings.map(({ identityUid }) => identityUid);
  const identityOf = await identityShower(session, holders, observation.parent, call);
  return bindings.map((binding) => ({
    binding: showBinding(binding, call, false),
    identity: identityOf(binding.identityUid),
    ...evidenceOf(binding, used.get(binding.uid) ?? [], observation),
  }));
}

function evidenceOf(
  { createTime, capabilities, delegations, ...binding }: ObservedBinding,
  used: readonly UsedCapability[],
  { since, recorded }: Observation,
) {
  const lastUse = used.length > 0 ? Math.max(...used.map(({ time }) => time)) : undefined;
  const observed = observedSince({ createTime, ...binding }, recorded);
  // The day of a use may have begun before.
  const isUsed = lastUse !== undefined && lastUse + dayMs > since;
  const isEarly = observed === undefined || observed > since;
  return {
    createTime: toTimestamp(createTime),
    ...(lastUse !== undefined && { lastUseTime: toTimestamp(lastUse) }),
    usedCapabilities: used
      .flatMap(({ capability, time }) => namesOfNumbers([capability]).map((name) => ({ capability: name, time })))
      .sort((a, b) => compareTexts(a.capability, b.capability))
      .map(({ capability, time }) => ({ capability, lastUseTime: toTimestamp(time) })),
    capabilityCount: capabilities.length,
    ...(observed !== undefined && { observedSinceTime: toTimestamp(observed) }),
    delegationCount: delegations,
    advice: isUsed || delegations > 0 ? UsageAdvice.UNSPECIFIED : isEarly ? UsageAdvice.TOO_EARLY : UsageAdvice.REMOVE,
  };
}
