// Serves the organizations of a person: those that they have joined, and those that wait for their decision (docs/design/access.md).
import type { Message } from "@bufbuild/protobuf";
import {
  AcceptOrganizationRequestSchema,
  DeclineOrganizationRequestSchema,
  EndMemberSessionRequestSchema,
  LeaveOrganizationRequestSchema,
  ListMemberSessionsRequestSchema,
  MembershipSchema,
  MembershipsService,
  RemoveMemberRequestSchema,
} from "../../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { type ApiError, failedPrecondition, invalidField, permissionDenied } from "../../../aip/errors.ts";
import { formatPageToken } from "../../../aip/page-token.ts";
import { effectivePageSize } from "../../../aip/pagination.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import { rootOf } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type MessageRules, uidRule } from "../../../pipeline/text-rules.ts";
import { queryDigest, readToken } from "../../../resource/bound-page-token.ts";
import { rowView } from "../../../resource/row-view.ts";
import { readTogether, type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import type { Session } from "../../../storage/engine/session.ts";
import {
  findBindingsIn,
  findJoined,
  findJoinTime,
  findPending,
  isMember,
  type Membership,
  membershipKind,
} from "../../../storage/iam/memberships.ts";
import { accept, type LoggedMembership } from "../users/membership.ts";
import { isUserUid } from "../users/user-uid.ts";
import { declineOrganization, leaveOrganization } from "./leave.ts";
import { requirePerson } from "./person.ts";
import { removeMember } from "./remove.ts";
import { memberSessions } from "./sessions.ts";
import { showJoined, showPending } from "./shown-organizations.ts";

const rules: readonly MessageRules[] = [
  ...[AcceptOrganizationRequestSchema, DeclineOrganizationRequestSchema, LeaveOrganizationRequestSchema].map(
    (schema) => ({ schema, fields: { organization: uidRule } }),
  ),
  ...[RemoveMemberRequestSchema, ListMemberSessionsRequestSchema, EndMemberSessionRequestSchema].map((schema) => ({
    schema,
    fields: { organization: uidRule, identity: uidRule },
  })),
];

/** Serves the memberships of the caller, and the sessions and the removal of others. */
export function memberships(context: ServiceContext): Implementation {
  const others = { removeMember: removeMember(context), ...memberSessions(context) };
  const handlers = { ...readers(context), ...writers(context), ...others };
  return implement(MembershipsService, handlers, rules);
}

type MembershipHandlers = Handlers<typeof MembershipsService>;

function readers(context: ServiceContext): Pick<MembershipHandlers, "listMemberships" | "listPendingOrganizations"> {
  const page = newOrganizationPages(context);
  return {
    async listMemberships(request, call) {
      const { items, nextPageToken } = await page(request, call, findJoined, showJoined);
      return { memberships: items, nextPageToken };
    },
    async listPendingOrganizations(request, call) {
      const { items, nextPageToken } = await page(request, call, findPending, showPending);
      return { organizations: items, nextPageToken };
    },
  };
}

function writers({
  database,
  clock,
}: ServiceContext): Pick<MembershipHandlers, "acceptOrganization" | "declineOrganization" | "leaveOrganization"> {
  return {
    async acceptOrganization({ organization }, call) {
      const person = personAt(call, organization);
      return await database.write(writeContext(call, clock), async (tx) => {
        await requireKnown(tx, person);
        await accept(tx, person.identityUid, person.groupUid);
        const createTime = (await findJoinTime(tx, person)) ?? tx.context.time;
        return { membership: await showJoined(tx, { ...person, createTime }) };
      });
    },
    async declineOrganization({ organization }, call) {
      const person = personAt(call, organization);
      await database.write(writeContext(call, clock), async (tx) => {
        if (await isMember(tx, person))
          throw failedPrecondition(
            "ALREADY_JOINED",
            "you have joined the organization; leave it instead",
            organization,
          );
        if (!(await declineOrganization(tx, person))) throw unknown();
      });
      return {};
    },
    async leaveOrganization({ organization }, call) {
      const person = personAt(call, organization);
      await database.write(writeContext(call, clock), async (tx) => {
        await requireKnown(tx, person);
        if (!(await isMember(tx, person)))
          throw failedPrecondition(
            "NOT_JOINED",
            "you have not joined the organization; decline it instead",
            organization,
          );
        await leaveOrganization(tx, person, call);
      });
      return {};
    },
  };
}

/** Returns the calling person at an organization. Throws INVALID_ARGUMENT for the uid of a subgroup. */
function personAt(call: Call, organization: string): Membership {
  const { uid: identityUid } = requirePerson(call);
  if (rootOf(organization) !== organization) throw invalidField("organization", "must be the uid of an organization");
  return { identityUid, groupUid: organization };
}

/** Throws unless the person has joined the organization or holds a role there. */
async function requireKnown(session: Session, person: Membership): Promise<void> {
  if (!(await isMember(session, person)) && (await findBindingsIn(session, person, 1)).length === 0) throw unknown();
}

/** Returns the same error whether or not the organization exists (security case I7). */
function unknown(): ApiError {
  return permissionDenied("no organization with this uid gives you a role");
}

/** Shows a membership in the audit log. */
export const membershipView = rowView<typeof MembershipSchema, LoggedMembership>(
  { collection: { kind: membershipKind }, schema: MembershipSchema },
  ({ joinTime }) => ({ joinTime: toTimestamp(joinTime) }),
  {
    verbs: ["joined", "left", "removed"],
    verbOf({ after, actorUid, resourceUid }) {
      if (after !== undefined) return "joined";
      return actorUid === resourceUid ? "left" : "removed";
    },
    parts: {},
  },
);

/** A request for a page. */
type PageRequest = Message & { readonly pageSize: number; readonly pageToken: string };

/** Makes the function that reads a page of the caller's organizations: `find` returns those after a uid, `show` the item of one. */
function newOrganizationPages(context: ServiceContext) {
  const { database, clock, pageTokenKey } = context;
  return async <R extends Pick<Membership, "groupUid">, T>(
    request: PageRequest,
    call: Call,
    find: (session: Session, identityUid: string, after: string, limit: number) => Promise<readonly R[]>,
    show: (session: Session, row: R & Membership) => Promise<T>,
  ): Promise<{ readonly items: T[]; readonly nextPageToken: string }> => {
    const violations = newViolations();
    const pageSize = effectivePageSize(request.pageSize, violations);
    violations.throwIfAny();
    const { uid: identityUid } = callerOf(call);
    if (!isUserUid(identityUid)) return { items: [], nextPageToken: "" };
    requirePerson(call);
    const query = queryDigest(call, request);
    const after = readToken(context, call, request.pageToken, query)?.uid ?? "";
    return await readTogether(database, call, async (session) => {
      const found = await find(session, identityUid, after, pageSize + 1);
      const rows = found.slice(0, pageSize);
      const items: T[] = [];
      for (const row of rows) items.push(await show(session, { ...row, identityUid }));
      const last = found.length > pageSize ? rows.at(-1) : undefined;
      const next = last && { issuedAt: clock(), query, order: "", uid: last.groupUid, value: "" };
      return { items, nextPageToken: next ? formatPageToken(pageTokenKey, next) : "" };
    });
  };
}
