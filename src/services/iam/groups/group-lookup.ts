// Lets callers find their organization by the domain of their e-mail address.
import { GroupSchema, type GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { invalidField, notFound, rateLimited } from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { callerOf, isNarrowed } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Handlers } from "../../../pipeline/handlers.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { findLatestAccessRequest } from "../../../storage/iam/access-requests.ts";
import { findVerifiedRoots } from "../../../storage/iam/group-names.ts";
import { accessRequests } from "../../../storage/schema/access-requests.ts";
import { groupMessage } from "./group-message.ts";

/** The minimum time between two access requests of a caller for the same group. */
const requestIntervalMs = 60 * 60 * 1000;

type LookupHandlers = Pick<Handlers<typeof GroupsService>, "lookupGroup" | "requestGroupAccess" | "checkEligibility">;

/**
 * Returns the three lookup methods. All of them require an address that a trusted issuer has verified, a domain that is not shared,
 * and a token that is not narrowed.
 */
export function groupLookup(context: ServiceContext): LookupHandlers {
  async function find(call: Call) {
    const domain = ownDomain(call, context);
    const [row] = domain === undefined ? [] : await findVerifiedRoots(context.database.session, domain);
    return row;
  }

  return {
    async lookupGroup(_request, call) {
      const row = await find(call);
      // The same error for no match, an untrusted address, a shared domain and a narrowed token.
      if (!row) throw notFound(resourceType(GroupSchema), "of the caller's e-mail domain");
      return { group: groupMessage(row) };
    },

    async requestGroupAccess({ groupUid }, call) {
      if (groupUid === "") throw invalidField("group_uid", "group_uid is required");
      const row = await find(call);
      if (row?.uid !== groupUid) throw notFound(resourceType(GroupSchema), groupUid);
      const { uid } = callerOf(call);
      await context.database.write(writeContext(call, context.clock), async (tx) => {
        const latest = await findLatestAccessRequest(tx, groupUid, uid);
        const waitMs = latest === undefined ? 0 : latest + requestIntervalMs - tx.context.time;
        if (waitMs > 0)
          throw rateLimited(
            "access to this group was requested less than an hour ago; wait before you request it again",
            waitMs,
          );
        // The owners are notified from the change log.
        const after = { identityUid: uid };
        tx.logChange({ kind: accessRequests, uid: groupUid, groupUid, before: null, after });
      });
      return {};
    },

    checkEligibility: (_request, call) => ({ eligible: ownDomain(call, context) !== undefined }),
  };
}

/** Returns the domain of the caller's verified address, or undefined if it cannot identify an organization. */
function ownDomain(call: Call, { settings }: ServiceContext): string | undefined {
  // Security case X1: a narrowed token may be in the hands of another organization, to which it is narrowed.
  if (isNarrowed(call)) return undefined;
  const { token } = callerOf(call);
  if (!token.emailVerified || !settings.trustedEmailIssuers.includes(token.act.iss ?? "")) return undefined;
  const domain = /^[^@\s]+@([a-z0-9-]+(?:\.[a-z0-9-]+)+)$/.exec(token.email)?.[1];
  return domain !== undefined && !settings.sharedEmailDomains.includes(domain) ? domain : undefined;
}
