// Records sessions that an operator ended in the audit log.
import { type CallerClient, type EndedSession, endedSessionKind } from "../storage/change-log/access-entries.ts";
import type { Transaction } from "../storage/engine/session.ts";
import { findMembershipsOf } from "../storage/iam/memberships.ts";
import type { RefreshFamilyRow } from "../storage/sign-in/sign-ins.ts";
import { organizationsOfOperators } from "./operators.ts";

/**
 * Records an ended session in the organizations of the operators, and in those that the person has joined.
 * Organizations of the person learn neither the operator nor the client address, because the operator may belong to
 * another tenant.
 */
export async function logEndedSession(tx: Transaction, session: RefreshFamilyRow, client: CallerClient): Promise<void> {
  const { id, identityUid, createTime, signIn } = session;
  const { email = "", browser } = signIn;
  const after: EndedSession = { sessionId: id, email, isBrowser: browser !== undefined, createTime };
  const entry = { kind: endedSessionKind, uid: identityUid, before: null, after };
  const ofOperators = await organizationsOfOperators(tx);
  for (const groupUid of ofOperators) tx.logChange({ ...entry, after: { ...after, ...client }, groupUid });
  const { method, requestId } = tx.context;
  for (const { groupUid } of await findMembershipsOf(tx, [identityUid]))
    if (!ofOperators.has(groupUid)) tx.logChange({ ...entry, groupUid, by: { actor: "", method, requestId } });
}
