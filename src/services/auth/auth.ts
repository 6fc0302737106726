import { Auth } from "../../../gen/chainguard/platform/auth/v1/auth_pb.ts";
import { IdentitySchema } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { ApiError, notFound, permissionDenied } from "../../aip/errors.ts";
import { resourceType } from "../../aip/resource-type.ts";
import { callerOf, isNarrowed } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import { findRow } from "../../storage/collection/rows.ts";
import { identityCollection } from "../../storage/iam/collections.ts";
import { findHeadlessSession, type HeadlessSessionRow, takeHeadlessToken } from "../../storage/sign-in/sign-ins.ts";
import type { Claims } from "../../sts/claim-match.ts";
import { userUid } from "../iam/users/user-uid.ts";
import { personOf, register } from "./registration.ts";
import { removeUser } from "./users.ts";
import { whoAmI } from "./who-am-i.ts";

/** The same error for delivered tokens and unknown codes. */
const unknownCode = "of this code: nobody has signed in for it, or the token was delivered already";

const sessionType = "auth.chainguard.dev/HeadlessSession";

/** The dependencies of the auth service beyond those of all services. */
export interface AuthContext extends ServiceContext {
  /** The base URL of this server. */
  readonly issuer: string;
  /** Verifies the bearer token of a call, which the login provider issued, and returns its claims. */
  readonly verifyUserToken: (call: Call) => Promise<Claims>;
}

/** Serves registration, headless sessions and account deletion. */
export function auth(context: AuthContext): Implementation {
  const { database, clock, issuer, verifyUserToken } = context;

  /** Whether this call may deliver the token of a session. Only the first one may; a HEAD request delivers nothing. */
  const isDelivered = async (row: HeadlessSessionRow, call: Call) =>
    call.isHead || (await database.write(writeContext(call, clock), (tx) => takeHeadlessToken(tx, row)));

  return implement(Auth, {
    validate: (_request, call) => database.read((session) => whoAmI(session, issuer, call)),

    async register({ code, identityId }, call) {
      const person = personOf(await verifyUserToken(call));
      const actor = userUid(person.issuer, person.subject);
      if (identityId !== "" && identityId !== actor) {
        throw permissionDenied("the identity_id is not the identity of the subject token", { identity: identityId });
      }
      // The operator configured the login provider, so its addresses count everywhere.
      const registration = { person, invite: code, vouches: () => true };
      const write = { ...writeContext(call, clock), actor, actorClaims: person.claims.act };
      const { uid, groupUid } = await database.write(write, (tx) => register(tx, registration));
      return { identity: uid, group: groupUid };
    },

    async getHeadlessSession({ code }, call) {
      call.setResponseHeader("cache-control", "no-store");
      const row = await findHeadlessSession(database.session, code);
      const isThere = row && row.encryptedToken !== "" && row.expireTime > clock();
      if (!isThere || !(await isDelivered(row, call))) throw waiting();
      // Clients decode this text again.
      return { ecdhPublicKey: Buffer.from(row.publicKey), encryptedIdtoken: Buffer.from(row.encryptedToken, "base64") };
    },

    async delete({ id }, call) {
      const { uid } = callerOf(call);
      if (isNarrowed(call))
        throw permissionDenied("a narrowed token cannot delete an account; use one that is not narrowed");
      if (id !== uid) throw permissionDenied("users can delete only their own account");
      if (uid.includes("/"))
        throw permissionDenied("only accounts of users can be deleted; delete other identities with DeleteIdentity");
      await database.write(writeContext(call, clock), async (tx) => {
        const row = await findRow(tx, identityCollection, uid);
        if (!row) throw notFound(resourceType(IdentitySchema), uid);
        await removeUser(tx, row, call);
      });
      return {};
    },
  });
}

/** A command line that waits for a sign-in gets this every few seconds. */
function waiting(): ApiError {
  const { code, message, details } = notFound(sessionType, unknownCode);
  return new ApiError(code, message, { details, isExpected: true });
}
