// Serves the organizations of a person: those that they have joined, and those that wait for their decision (docs/design/access.md).
import {
  AcceptOrganizationRequestSchema,
  DeclineOrganizationRequestSchema,
  LeaveOrganizationRequestSchema,
  MembershipSchema,
  MembershipsService,
} from "../../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { type ApiError, failedPrecondition, invalidField, permissionDenied } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { rootOf } from "../../../model/uid.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { uidRule } from "../../../pipeline/text-rules.ts";
import { rowView } from "../../../resource/row-view.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import type { Session } from "../../../storage/engine/session.ts";
import {
  findBindingsIn,
  findJoined,
  findJoinTime,
  findPending,
  isMember,
  type Membership,
} from "../../../storage/iam/memberships.ts";
import { accept, type LoggedMembership, membershipKind } from "../users/membership.ts";
import { declineOrganization, leaveOrganization } from "./leave.ts";
import { newOrganizationPages } from "./pages.ts";
import { requirePerson } from "./person.ts";
import { showJoined, showPending } from "./shown-organizations.ts";

const rules = [AcceptOrganizationRequestSchema, DeclineOrganizationRequestSchema, LeaveOrganizationRequestSchema].map(
  (schema) => ({ schema, fields: { organization: uidRule } }),
);

/** Serves the memberships of the caller. */
export function memberships(context: ServiceContext): Implementation {
  return implement(MembershipsService, { ...readers(context), ...writers(context) }, rules);
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

/** The same error whether or not the organization exists (security case I7). */
function unknown(): ApiError {
  return permissionDenied("no organization with this uid gives you a role");
}

/** Shows a membership in the audit log. */
export const membershipView = rowView<typeof MembershipSchema, LoggedMembership>(
  { collection: { kind: membershipKind }, schema: MembershipSchema },
  ({ joinTime }) => ({ joinTime: toTimestamp(joinTime) }),
);
