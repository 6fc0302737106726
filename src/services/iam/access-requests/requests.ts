import { durationMs } from "@bufbuild/protobuf/wkt";
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  type AccessRequest,
  AccessRequestSchema,
  AccessRequestState,
  AccessRequestsService,
  AcknowledgeAccessRequestRequestSchema,
  ApproveAccessRequestRequestSchema,
  DenyAccessRequestRequestSchema,
  ListAccessRequestsRequestSchema,
  ListRequestableRolesRequestSchema,
} from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { failedPrecondition, invalidField, notFound, permissionDenied } from "../../../aip/errors.ts";
import { accessOf, callerOf, isNarrowed, requireCapability } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { allExpensive } from "../../../pipeline/expensive.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type MessageRules, uidRule } from "../../../pipeline/text-rules.ts";
import { type MakeItems, rowsThatFit } from "../../../resource/list-page.ts";
import { readMethods } from "../../../resource/read-methods.ts";
import { commonOrders, defineReadableResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { findRow, lockRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import {
  accessRequestCollection,
  accessRequestRuleCollection,
  closed,
} from "../../../storage/iam/requests/collections.ts";
import type { AccessRequestRow } from "../../../storage/iam/requests/rows.ts";
import { endActive } from "./activation.ts";
import { acknowledge, decide, isOwn, mayDecide, type RuledRequest, requirePending } from "./decisions.ts";
import { findInbox } from "./inbox.ts";
import { requestMessage, type ShownRequest, showRequests } from "./messages.ts";
import { insertRequest } from "./new-request.ts";
import { findRequestable } from "./requestable-roles.ts";
import { commentRule, reasonRule } from "./rule-checks.ts";

/** Access requests. Callers make them by a method of their own. */
export const accessRequest = defineReadableResource<typeof AccessRequestSchema, AccessRequestRow>({
  schema: AccessRequestSchema,
  plural: "accessRequests",
  collection: accessRequestCollection,
  orderable: commonOrders,
  defaultOrder: { field: "createTime", descending: true },
  toMessage: requestMessage,
});

const rules: readonly MessageRules[] = [
  {
    schema: AccessRequestSchema,
    fields: { reason: reasonRule },
    check: (message) => checkDuration(message as AccessRequest),
  },
  { schema: ApproveAccessRequestRequestSchema, fields: { comment: commentRule } },
  { schema: DenyAccessRequestRequestSchema, fields: { comment: commentRule } },
  { schema: AcknowledgeAccessRequestRequestSchema, fields: { comment: commentRule } },
  { schema: ListAccessRequestsRequestSchema, fields: { identity: uidRule } },
  { schema: ListRequestableRolesRequestSchema, fields: { group: uidRule } },
];

/** Serves access requests. */
export function accessRequests(context: ServiceContext): Implementation {
  const { database, clock } = context;
  return implement(
    AccessRequestsService,
    {
      ...readers(context),
      ...changers(context),
      async createAccessRequest({ parent, accessRequest: value }, call) {
        requireWhole(call);
        return await database.write(writeContext(call, clock), async (tx) => {
          const row = await insertRequest(tx, parent, value!, call);
          return (await showRequests(tx, [row], call))[0]!;
        });
      },
    },
    rules,
  );
}

type Methods = Handlers<typeof AccessRequestsService>;

function readers(
  context: ServiceContext,
): Pick<Methods, "getAccessRequest" | "listAccessRequests" | "listMyAccessRequests" | "listRequestableRoles"> {
  const { database } = context;
  const reading = readMethods(accessRequest, context);
  return {
    async getAccessRequest({ uid }, call) {
      return await database.read(async (session) => {
        const { row } = await findVisible(session, uid, call, findRow);
        return (await showRequests(session, [row], call))[0]!;
      });
    },
    async listAccessRequests(request, call) {
      const filters = { identityUid: request.identity, state: stateName(request.state) };
      const makeItems: MakeItems<AccessRequestRow, ShownRequest> = (session, rows) =>
        showRequests(session, rowsThatFit(session, rows), call);
      const { items, ...envelope } = await reading.page(request, call, filters, undefined, makeItems);
      return { ...envelope, accessRequests: [...items] };
    },
    // Both read the pending requests or the rules of whole organizations.
    ...allExpensive<Pick<Methods, "listMyAccessRequests" | "listRequestableRoles">>({
      async listMyAccessRequests(_request, call) {
        requireWhole(call);
        return await database.read(async (session) => {
          const { own, toDecide, toAcknowledge } = await findInbox(session, call);
          return {
            requests: await showRequests(session, own, call),
            toDecide: await showRequests(session, toDecide, call),
            toAcknowledge: await showRequests(session, toAcknowledge, call),
          };
        });
      },
      async listRequestableRoles({ group }, call) {
        requireWhole(call);
        return await database.read(async (session) => ({
          requestableRoles: await findRequestable(session, group, call),
        }));
      },
    }),
  };
}

function changers({
  database,
  clock,
}: ServiceContext): Pick<
  Methods,
  "approveAccessRequest" | "denyAccessRequest" | "acknowledgeAccessRequest" | "cancelAccessRequest" | "endAccessRequest"
> {
  /** Changes a request that the caller may see, and shows it as it is then. */
  const change = (uid: string, call: Call, body: (tx: Transaction, found: RuledRequest) => Promise<AccessRequestRow>) =>
    database.write(writeContext(call, clock), async (tx) => {
      const row = await body(tx, await findVisible(tx, uid, call, lockRow));
      return (await showRequests(tx, [row], call))[0]!;
    });
  return {
    approveAccessRequest: ({ uid, comment }, call) =>
      change(uid, call, (tx, found) => decide(tx, found, { isApproval: true, comment }, call)),
    denyAccessRequest: ({ uid, comment }, call) =>
      change(uid, call, (tx, found) => decide(tx, found, { isApproval: false, comment }, call)),
    acknowledgeAccessRequest: ({ uid, comment }, call) =>
      change(uid, call, (tx, found) => acknowledge(tx, found, comment, call)),
    cancelAccessRequest: ({ uid }, call) =>
      change(uid, call, async (tx, { row }) => {
        if (row.identityUid !== callerOf(call).uid)
          throw permissionDenied("only the requester cancels a request; deny it instead");
        requirePending(tx, row);
        return await updateRow(tx, accessRequestCollection, row, closed(row, "CANCELLED", tx.termTime()));
      }),
    endAccessRequest: ({ uid }, call) =>
      change(uid, call, async (tx, { row }) => {
        if (row.identityUid !== callerOf(call).uid)
          requireCapability(call, Capability.CAP_IAM_ROLE_BINDINGS_DELETE, row.parent);
        if (row.state !== "ACTIVE" || row.dueTime! <= tx.termTime())
          throw failedPrecondition("REQUEST_NOT_ACTIVE", "the request gives no role", uid);
        return await endActive(tx, row);
      }),
  };
}

/**
 * Returns a request with its rule. Throws NOT_FOUND unless the caller requested it, may decide about it, or may list role bindings at its
 * group.
 */
async function findVisible<S extends Session>(
  session: S,
  uid: string,
  call: Call,
  find: (
    session: S,
    collection: typeof accessRequestCollection,
    uid: string,
  ) => ReturnType<typeof findRow<AccessRequestRow>>,
): Promise<RuledRequest> {
  requireWhole(call);
  const row = await find(session, accessRequestCollection, uid);
  if (!row) throw notFound(accessRequest.type, uid);
  const rule = await findRow(session, accessRequestRuleCollection, row.ruleUid);
  const isVisible =
    accessOf(call).has(Capability.CAP_IAM_ROLE_BINDINGS_LIST, row.parent) ||
    (await isOwn(session, row, callerOf(call).uid)) ||
    (await mayDecide(session, { row, rule }, call));
  if (!isVisible) throw notFound(accessRequest.type, uid);
  return { row, rule };
}

/** Throws PERMISSION_DENIED for a narrowed token: what it was narrowed for is not to get more. */
function requireWhole(call: Call): void {
  if (isNarrowed(call))
    throw permissionDenied("a token that is narrowed to groups or capabilities makes and decides no access requests");
}

function checkDuration({ duration }: AccessRequest) {
  const isTooShort = duration !== undefined && durationMs(duration) < 60_000;
  return isTooShort ? [{ field: "duration", description: "must be at least 1 minute" }] : [];
}

function stateName(state: AccessRequestState): string {
  if (state === AccessRequestState.UNSPECIFIED) return "";
  const [name] = Object.entries(AccessRequestState).find(([, value]) => value === state) ?? [];
  if (name === undefined) throw invalidField("state", "must be a state of a request");
  return name;
}
