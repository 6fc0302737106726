// Several calls of methods in one transaction: all of them take effect, or none.
import { createHash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import { aborted } from "../../aip/errors.ts";
import { combineRoles } from "../../authz/grants.ts";
import { activeRoles, type TimedRole } from "../../model/grants.ts";
import { rootOf } from "../../model/uid.ts";
import { accessOf, callerOf, previewOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Implementation } from "../../pipeline/handlers.ts";
import { type NestedCall, nestedCalls, type RequestCheck } from "../../pipeline/nested-methods.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import { lastChangeIn } from "../../storage/change-log/change-log.ts";
import { lockRow } from "../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../storage/engine/session.ts";
import { groupCollection } from "../../storage/iam/collections.ts";
import { findFoundedOrganizations } from "../../storage/iam/founding-bindings.ts";
import { findGrants } from "../../storage/iam/grants.ts";
import { type JoinedDatabase, joinedDatabase } from "../../storage/joined-database.ts";
import { findSessionRoles } from "../iam/delegations/active-delegations.ts";
import { findSuspendedOrganizations } from "../iam/provisioning/suspended-people.ts";
import { acceptByCall } from "../iam/users/membership.ts";
import { applyLimits } from "./limits.ts";

/** Something that depends on the resources of an organization only. */
export interface AtVersion {
  /** The last change of the organization; 0 for one that does not exist yet. */
  readonly version: number;
}

/** Returns the last change of the organization of a group. */
export async function versionOf(session: Session, groupUid: string): Promise<number> {
  return groupUid === "" ? 0 : await lastChangeIn(session, rootOf(groupUid));
}

/** A request that can be validated without writing. */
export interface PlannedRequest extends Message {
  /** The group that is changed; empty for an organization that does not exist yet. */
  readonly groupUid: string;
  readonly validateOnly: boolean;
  readonly expectedPlan: string;
}

/** A request, with its changes. */
export interface PlannedChange {
  readonly request: PlannedRequest;
  /** How many resources it creates, updates and deletes. */
  readonly changes: number;
}

/** The transaction, and the database and calls that run in it. */
export interface Joined {
  readonly tx: Transaction;
  readonly database: JoinedDatabase;
  readonly callMethod: NestedCall;
}

/** Returns the services whose methods are called, with a database that stays in the transaction. */
export type ServicesOf = (context: ServiceContext) => readonly Implementation[];

/** Runs calls of the methods of some services in one transaction, and undoes it if the request only validates. */
export type CallTogether = <T>(
  services: ServicesOf,
  planned: PlannedChange,
  call: Call,
  body: (joined: Joined) => Promise<T>,
) => Promise<T>;

/** Makes the function that calls several methods in one transaction, at most one such transaction of an organization at a time. */
export function newCallTogether(context: ServiceContext, check: RequestCheck): CallTogether {
  const busy = new Set<string>();
  return async (services, planned, call, body) => {
    const { request } = planned;
    // A new organization has no uid yet.
    const key = request.groupUid === "" ? callerOf(call).uid : rootOf(request.groupUid);
    // On SQLite all others wait for a large transaction: those of one organization must not queue up.
    if (busy.has(key))
      throw aborted("another request changes this organization as a whole; try again when it has ended");
    busy.add(key);
    try {
      return await runTogether(context, (joined) => nestedCalls(services(joined), check), planned, call, body);
    } finally {
      busy.delete(key);
    }
  };
}

async function runTogether<T>(
  context: ServiceContext,
  callsOf: (joined: ServiceContext) => NestedCall,
  { request: { groupUid, validateOnly }, changes }: PlannedChange,
  call: Call,
  body: (joined: Joined) => Promise<T>,
): Promise<T> {
  const { database, clock } = context;
  async function run(tx: Transaction): Promise<T> {
    // Two requests for one group would create the same resources.
    if (groupUid !== "") await lockRow(tx, groupCollection, groupUid);
    // This call has waited for others, and one of them may have removed roles of its caller.
    await requireCurrentAccess(tx, call);
    // Before the body, which may delete the organization.
    if (groupUid !== "") await acceptByCall(tx, call, groupUid);
    const joined = joinedDatabase(database, tx);
    const callMethod = callsOf({ ...context, database: joined });
    const preview: NestedCall = (method, request, nested) => callMethod(method, request, previewOf(nested));
    const result = await body({ tx, database: joined, callMethod: validateOnly ? preview : callMethod });
    // The apply may have taken seconds. Roles that it changes itself are not visible outside of the transaction yet.
    await requireCurrentAccess(database.session, call);
    return result;
  }
  const write = writeContext(call, clock);
  if (validateOnly) return await database.rehearse(write, run);
  return await database.write({ ...write, isAlone: true, isLarge: changes > applyLimits.smallChanges }, run);
}

/** Throws ABORTED if the caller has other roles than those that allowed the call. */
async function requireCurrentAccess(session: Session, call: Call): Promise<void> {
  const roles = await rolesOf(session, call);
  if (!accessOf(call).isOf(combineRoles(activeRoles(roles, session.termTime()))))
    throw aborted("the roles of the caller changed in the meantime; try again");
}

/** Returns the fingerprint of a plan: the same for the same plan. */
export function planFingerprint(steps: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(steps)).digest("hex").slice(0, 32);
}

/** Throws ABORTED if the plan is not the one that the caller has seen. */
export function requireExpected({ expectedPlan }: PlannedRequest, fingerprint: string): void {
  if (expectedPlan !== "" && fingerprint !== expectedPlan)
    throw aborted("the plan is not the expected one any more: the resources have changed; make a new plan");
}

/** Returns the roles that the caller has, with their terms: those of role bindings, and those that the mappings of the token give. */
export async function rolesOf(session: Session, call: Call): Promise<readonly TimedRole[]> {
  const { uid, token } = callerOf(call);
  const [grants, mapped, suspended] = await Promise.all([
    findGrants(session, uid),
    findSessionRoles(session, uid, token.mappings),
    findSuspendedOrganizations(session, token.act),
  ]);
  const roles = [...(grants?.roles ?? []), ...mapped.roles].filter(({ role }) => !suspended.has(rootOf(role.groupUid)));
  if (!suspended.has(rootOf(uid))) return roles;
  const founded = await findFoundedOrganizations(session, uid);
  return roles.filter(({ role }) => founded.includes(rootOf(role.groupUid)));
}
