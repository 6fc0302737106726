// Several calls of methods in one transaction: all of them take effect, or none.
import type { Message } from "@bufbuild/protobuf";
import { aborted } from "../../aip/errors.ts";
import { callerOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Implementation } from "../../pipeline/handlers.ts";
import { type NestedMethods, nestedMethods } from "../../pipeline/nested-methods.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import { lockRow } from "../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../storage/engine/session.ts";
import { groupCollection } from "../../storage/iam/collections.ts";
import { findGrants } from "../../storage/iam/grants.ts";
import { type JoinedDatabase, joinedDatabase } from "../../storage/joined-database.ts";
import { accept } from "../iam/users/membership.ts";

/** A request that can be validated without writing. */
export interface PlannedRequest extends Message {
  /** The group that is changed; empty for an organization that does not exist yet. */
  readonly groupUid: string;
  readonly validateOnly: boolean;
  readonly expectedPlan: string;
}

/** What runs in the transaction. */
export interface Joined {
  readonly tx: Transaction;
  readonly database: JoinedDatabase;
  readonly methods: NestedMethods;
}

/** Ends the transaction of a request that only validates. */
class Validated extends Error {}

/** Runs calls of the methods of `services` in one transaction, and undoes it if the request only validates. */
export async function callTogether<T>(
  {
    context,
    services,
  }: { readonly context: ServiceContext; readonly services: (of: ServiceContext) => readonly Implementation[] },
  { groupUid, validateOnly }: PlannedRequest,
  call: Call,
  body: (joined: Joined) => Promise<T>,
): Promise<T> {
  const { database, clock } = context;
  let result: T | undefined;
  try {
    await database.write({ ...writeContext(call, clock), isLarge: true }, async (tx) => {
      // Two requests for one group would create the same resources.
      if (groupUid !== "") await lockRow(tx, groupCollection, groupUid);
      const joined = joinedDatabase(database, tx);
      const before = await grantsOf(database.session, call);
      const methods = nestedMethods(services({ ...context, database: joined }), clock);
      result = await body({ tx, database: joined, methods });
      if (groupUid !== "") await accept(tx, callerOf(call).uid, groupUid);
      // A large transaction takes seconds. It must not outlive the roles that allowed it.
      if ((await grantsOf(database.session, call)) !== before)
        throw aborted("the roles of the caller changed in the meantime; try again");
      if (validateOnly) throw new Validated();
    });
  } catch (error) {
    if (!(error instanceof Validated)) throw error;
  }
  return result!;
}

/** Throws ABORTED if the plan is not the one that the caller has seen. */
export function requireExpected({ expectedPlan }: PlannedRequest, fingerprint: string): void {
  if (expectedPlan !== "" && fingerprint !== expectedPlan)
    throw aborted("the plan is not the expected one any more: the resources have changed; make a new plan");
}

async function grantsOf(session: Session, call: Call): Promise<string> {
  const roles = (await findGrants(session, callerOf(call).uid))?.roles ?? [];
  return JSON.stringify(roles.map(({ groupUid, capabilities }) => [groupUid, capabilities]).sort());
}
