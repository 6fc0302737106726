// The sessions of an installation, for its operators.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { OperateService, SessionSchema } from "../../../gen/gatehouse/operate/v1/operate_pb.ts";
import { notFound } from "../../aip/errors.ts";
import { formatPageToken } from "../../aip/page-token.ts";
import { effectivePageSize, effectiveSkip } from "../../aip/pagination.ts";
import { newViolations } from "../../aip/violations.ts";
import type { Handlers } from "../../pipeline/handlers.ts";
import { clientOf } from "../../pipeline/observe.ts";
import { queryDigest, readToken } from "../../resource/bound-page-token.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import type { CallerClient } from "../../storage/change-log/access-entries.ts";
import type { Transaction } from "../../storage/engine/session.ts";
import { countSessions, listSessions } from "../../storage/sign-in/session-list.ts";
import { deleteRefreshFamily, findRefreshFamily, type RefreshFamilyRow } from "../../storage/sign-in/sign-ins.ts";
import { requireUnlimited } from "../operator-call.ts";
import { sessionFacts } from "../session-facts.ts";

/** The dependencies of the session methods. */
export interface SessionContext extends Pick<ServiceContext, "database" | "clock" | "pageTokenKey"> {
  /** Records a session that an operator ended in the audit log. */
  logEndedSession(tx: Transaction, session: RefreshFamilyRow, client: CallerClient): Promise<void>;
}

/** Returns the methods for sessions. */
export function sessionMethods(
  context: SessionContext,
): Pick<Handlers<typeof OperateService>, "listSessions" | "endSession"> {
  const { database, clock, pageTokenKey } = context;
  return {
    async listSessions(request, call) {
      requireUnlimited(call, "list the sessions of the installation");
      const violations = newViolations();
      const size = effectivePageSize(request.pageSize, violations);
      const skip = effectiveSkip(request.skip, violations);
      violations.throwIfAny();
      const query = queryDigest(call, request);
      const token = readToken(context, call, request.pageToken, query);
      const after = token && { expireTime: Number(token.value), id: token.uid };
      const filter = { identityUid: request.identityUid, now: clock() };
      return await database.read(async (session) => {
        const found = await listSessions(session, filter, { after, skip, limit: size + 1 });
        const shown = found.slice(0, size);
        const last = shown.at(-1);
        const next = last && { issuedAt: clock(), query, order: "", value: last.expireTime, uid: last.id };
        return {
          sessions: shown.map(toMessage),
          nextPageToken: next && found.length > size ? formatPageToken(pageTokenKey, next) : "",
          totalCount: BigInt(await countSessions(session, filter)),
        };
      });
    },
    async endSession({ sessionId }, call) {
      requireUnlimited(call, "end a session");
      await database.write(writeContext(call, clock), async (tx) => {
        const session = await findRefreshFamily(tx, sessionId);
        if (!session) throw notFound("operate.gatehouse.dev/Session", sessionId);
        await deleteRefreshFamily(tx, sessionId);
        await context.logEndedSession(tx, session, clientOf(call));
      });
      return {};
    },
  };
}

function toMessage(session: RefreshFamilyRow): MessageInitShape<typeof SessionSchema> {
  const { identityUid, signIn } = session;
  return { ...sessionFacts(session), identityUid, email: signIn.email ?? "" };
}
