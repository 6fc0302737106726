// Lists delegations, and lets callers confirm them.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  ConfirmDelegationRequestSchema,
  DelegationSchema,
  DelegationsService,
  InactivityReason,
  DelegationKind as Kind,
  type ListDelegationsRequest,
  ListDelegationsRequestSchema,
  type ListDelegationsResponseSchema,
} from "../../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { notFound } from "../../../aip/errors.ts";
import { formatPageToken } from "../../../aip/page-token.ts";
import { effectivePageSize } from "../../../aip/pagination.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import { isWithin, parentOf, rangeBelow } from "../../../model/uid.ts";
import { requireCapability, scopeOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { expensive } from "../../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { uidRule } from "../../../pipeline/text-rules.ts";
import { queryDigest, readToken } from "../../../resource/bound-page-token.ts";
import { rowView } from "../../../resource/row-view.ts";
import { eventForm } from "../../../resource/sentence-form.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import type { Session } from "../../../storage/engine/session.ts";
import {
  type Delegation,
  type DelegationKind,
  findDelegation,
  findDelegationsIn,
  findDelegationsOf,
} from "../../../storage/iam/delegations.ts";
import { type Evaluator, newEvaluator } from "./active-delegations.ts";
import { findGiven, mayReadGiven } from "./delegated-roles.ts";
import { type ShownDelegation, withNames } from "./delegation-names.ts";
import { confirm } from "./makers.ts";

/** How many delegations one call reads to find those that are not in force. */
const maxScanned = 500;

const resourceType = "iam.gatehouse.dev/Delegation";

/** The API value of each kind, and the capability that confirming it requires. */
const kinds: Readonly<Record<DelegationKind, { readonly kind: Kind; readonly capability: Capability }>> = {
  group_invites: { kind: Kind.GROUP_INVITE, capability: Capability.CAP_IAM_GROUP_INVITES_CREATE },
  subscriptions: { kind: Kind.SUBSCRIPTION, capability: Capability.CAP_EVENTS_SUBSCRIPTION_CREATE },
  identity_providers: { kind: Kind.DEFAULT_ROLE, capability: Capability.CAP_IAM_IDENTITY_PROVIDERS_UPDATE },
  scim_tokens: { kind: Kind.SCIM_TOKEN, capability: Capability.CAP_IAM_IDENTITY_PROVIDERS_UPDATE },
  external_group_role_mappings: {
    kind: Kind.EXTERNAL_GROUP_ROLE_MAPPING,
    capability: Capability.CAP_IAM_IDENTITY_PROVIDERS_CREATE,
  },
  identities: { kind: Kind.STATIC_KEYS, capability: Capability.CAP_IAM_IDENTITY_UPDATE },
  access_request_rules: { kind: Kind.ACCESS_REQUEST_RULE, capability: Capability.CAP_IAM_ROLE_BINDINGS_CREATE },
  access_reviews: { kind: Kind.ACCESS_REVIEW, capability: Capability.CAP_IAM_ROLE_BINDINGS_DELETE },
};

/** Serves delegations. */
export function delegations(context: ServiceContext): Implementation {
  const { database, clock } = context;

  async function list(
    request: ListDelegationsRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ListDelegationsResponseSchema>> {
    const violations = newViolations();
    const pageSize = effectivePageSize(request.pageSize, violations);
    violations.throwIfAny();
    const query = queryDigest(call, request);
    const token = readToken(context, call, request.pageToken, query);
    const after = token && { uid: token.uid, kind: token.value as DelegationKind };
    const { inactive, maker } = request;
    const options = { places: placesOf(request, call), after, pageSize, inactive, maker };
    const { named, last } = await database.read(async (session) => {
      const { shown, last } = await scanDelegations(session, options, call);
      return { named: await withNames(session, shown, call), last };
    });
    const next = last && { issuedAt: clock(), query, order: "", uid: last.uid, value: last.kind };
    return { delegations: named, nextPageToken: next ? formatPageToken(context.pageTokenKey, next) : "" };
  }

  return implement(
    DelegationsService,
    {
      listDelegations: expensive(list),
      async confirmDelegation({ uid }, call) {
        return await database.write(writeContext(call, clock), async (tx) => {
          const found = await findDelegationsOf(tx, uid);
          if (found.length === 0) throw notFound(resourceType, uid);
          for (const one of found) await confirmOne(one, call, tx);
          const confirmed: ShownDelegation[] = [];
          const evaluator = newEvaluator(tx);
          for (const { kind } of found)
            confirmed.push((await show(evaluator, (await findDelegation(tx, kind, uid))!, call)).message);
          return { delegations: await withNames(tx, confirmed, call) };
        });
      },
    },
    [
      { schema: ListDelegationsRequestSchema, fields: { parent: uidRule, maker: uidRule } },
      { schema: ConfirmDelegationRequestSchema, fields: { uid: uidRule } },
    ],
  );
}

async function confirmOne(delegation: Delegation, call: Call, tx: Parameters<typeof confirm>[0]): Promise<void> {
  const { kind, uid, makerUid: before } = delegation;
  requireCapability(call, kinds[kind].capability, uid);
  const given = await findGiven(tx, kind, uid);
  if (!given) throw notFound(resourceType, uid);
  await confirm(tx, delegation, given, call);
  const row = (makerUid: string | null): ConfirmedRow => ({ uid, delegation: kind, makerUid: makerUid ?? "" });
  tx.logChange({
    kind: delegationChanges,
    uid,
    groupUid: parentOf(uid),
    before: row(before),
    after: row(tx.context.actor),
  });
}

/** The kind of a confirmation in the change log. */
const delegationChanges = "delegations";

/** Shows a confirmation in the audit log: the maker before and after it. */
export const delegationView = rowView<typeof DelegationSchema, ConfirmedRow>(
  { collection: { kind: delegationChanges }, schema: DelegationSchema },
  ({ uid, delegation, makerUid }) => ({ uid, kind: kinds[delegation].kind, makerUid }),
  eventForm("confirmed"),
);

/** A confirmation in the change log. */
interface ConfirmedRow {
  readonly uid: string;
  readonly delegation: DelegationKind;
  readonly makerUid: string;
}

/** The delegations to list. */
interface ScanOptions {
  readonly places: readonly string[];
  readonly after: Pick<Delegation, "uid" | "kind"> | undefined;
  readonly pageSize: number;
  readonly inactive: boolean;
  /** The uid of the identity that vouches for them; empty for all. */
  readonly maker: string;
}

/** Returns the delegations of these subtrees that are not in force, and whether all of them were read. */
export async function findInactiveDelegations(session: Session, places: readonly string[], call: Call) {
  const options = { places, after: undefined, pageSize: maxScanned, inactive: true, maker: "" };
  const { shown, last } = await scanDelegations(session, options, call);
  return { shown, isWhole: last === undefined };
}

/** Shows delegations. */
export async function showDelegations(
  session: Session,
  delegations: readonly Delegation[],
  call: Call,
): Promise<ShownDelegation[]> {
  const evaluator = newEvaluator(session, [...delegations]);
  const shown = await Promise.all(delegations.map(async (one) => (await show(evaluator, one, call)).message));
  return await withNames(session, shown, call);
}

/** Returns the next matching delegations in order. `last` is the cursor of the next page, if there may be one. */
async function scanDelegations(session: Session, options: ScanOptions, call: Call) {
  const { places, after, pageSize, inactive, maker: makerUid } = options;
  const limit = inactive ? maxScanned : pageSize;
  const found: Delegation[] = [];
  for (const place of places) {
    const range = rangeBelow(place);
    const left = limit + 1 - found.length;
    if (left > 0 && (after?.uid ?? "") < range.to)
      found.push(...(await findDelegationsIn(session, { range, after, makerUid, limit: left })));
  }
  const shown: ShownDelegation[] = [];
  const evaluator = newEvaluator(session, found);
  for (const [i, delegation] of found.entries()) {
    if (shown.length === pageSize || i === limit) return { shown, last: found[i - 1] };
    const { message, inactivity } = await show(evaluator, delegation, call);
    if (!inactive || inactivity) shown.push(message);
  }
  return { shown, last: undefined };
}

/** Returns the subtrees that the caller may list, in byte order. */
function placesOf({ parent }: ListDelegationsRequest, call: Call): string[] {
  const scope = scopeOf(call);
  if (parent === "") return [...scope].sort();
  if (scope.some((root) => isWithin(parent, root))) return [parent];
  return scope.filter((root) => isWithin(root, parent)).sort();
}

/** Shows a delegation. What its maker lacks is shown to callers who may know what it gives. */
async function show(evaluator: Evaluator, delegation: Delegation, call: Call) {
  const { kind, uid, makerUid, isInstallation, time } = delegation;
  const given = await evaluator.givenBy(delegation);
  const [inactivity] = await evaluator.inactivitiesOf([delegation]);
  const message: ShownDelegation = {
    uid,
    kind: kinds[kind].kind,
    roleUid: given?.roleUid ?? "",
    makerUid: makerUid ?? "",
    madeByInstallation: isInstallation,
    ...(time > 0 && { vouchTime: toTimestamp(time) }),
    ...(inactivity && {
      inactivity: InactivityReason[inactivity.reason],
      capabilities: given && mayReadGiven(given, call) ? [...inactivity.capabilities] : [],
    }),
  };
  return { message, inactivity };
}
