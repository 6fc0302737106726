// The sessions that people began by identity providers of an organization, for callers who may remove them from it.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MemberSessionSchema, MembershipsService } from "../../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { invalidField, notFound } from "../../../aip/errors.ts";
import { rootOf } from "../../../model/uid.ts";
import type { Handlers } from "../../../pipeline/handlers.ts";
import { clientOf } from "../../../pipeline/observe.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { type CallerClient, type EndedSession, endedSessionKind } from "../../../storage/change-log/access-entries.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import type { Membership } from "../../../storage/iam/memberships.ts";
import { deleteRefreshFamily, type RefreshFamilyRow } from "../../../storage/sign-in/sign-ins.ts";
import { sessionFacts } from "../../session-facts.ts";
import { isUserUid } from "../users/user-uid.ts";
import { findSessions } from "./leave.ts";

type SessionHandlers = Pick<Handlers<typeof MembershipsService>, "listMemberSessions" | "endMemberSession">;

/** Returns the methods for these sessions. Sessions by providers of others look like sessions that do not exist. */
export function memberSessions({ database, clock }: ServiceContext): SessionHandlers {
  return {
    async listMemberSessions(request) {
      const person = personOf(request);
      const sessions = await database.read((session) => findLiveSessions(session, person, clock()));
      return { sessions: sessions.map(toMessage) };
    },
    async endMemberSession(request, call) {
      const person = personOf(request);
      await database.write(writeContext(call, clock), async (tx) => {
        const found = (await findLiveSessions(tx, person, clock())).find(({ id }) => id === request.sessionId);
        if (!found) throw notFound("iam.gatehouse.dev/MemberSession", request.sessionId);
        await deleteRefreshFamily(tx, found.id);
        logEnd(tx, person, found, clientOf(call));
      });
      return {};
    },
  };
}

interface OfPerson {
  readonly organization: string;
  readonly identity: string;
}

function personOf({ organization, identity }: OfPerson): Membership {
  if (rootOf(organization) !== organization) throw invalidField("organization", "must be the uid of an organization");
  if (!isUserUid(identity)) throw invalidField("identity", "must be the uid of a person; a workload has no sessions");
  return { identityUid: identity, groupUid: organization };
}

/** Returns the sessions that have not expired, those that expire last first. */
async function findLiveSessions(session: Session, person: Membership, now: number): Promise<RefreshFamilyRow[]> {
  const sessions = await findSessions(session, person);
  return sessions.filter(({ expireTime }) => expireTime > now).sort((a, b) => b.expireTime - a.expireTime);
}

/** Records the end in the audit log of the organization only: it concerns no other. */
function logEnd(tx: Transaction, { groupUid }: Membership, session: RefreshFamilyRow, client: CallerClient): void {
  const { id, identityUid, createTime, signIn } = session;
  const { email = "", browser } = signIn;
  const after: EndedSession = { sessionId: id, email, isBrowser: browser !== undefined, createTime, ...client };
  tx.logChange({ kind: endedSessionKind, uid: identityUid, groupUid, before: null, after });
}

function toMessage(session: RefreshFamilyRow): MessageInitShape<typeof MemberSessionSchema> {
  return { ...sessionFacts(session), identityProvider: session.signIn.provider };
}
