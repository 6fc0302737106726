// Writes the changes of a request in one transaction.
import type { ApplyResourcesRequest } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { newYield } from "../../base/yielding.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Implementation } from "../../pipeline/handlers.ts";
import type { KindContext, KindOptions } from "../kinds/kind-options.ts";
import { deletedWithGroup, resources } from "../resources.ts";
import { attemptTogether } from "./concurrent-runs.ts";
import { executePlan } from "./execute.ts";
import { type CallTogether, requireExpected, type ServicesOf, versionOf } from "./joined-calls.ts";
import { requireFewChanges } from "./limits.ts";
import { changingSteps, makePlan, type Plan } from "./plan.ts";

/** Returns the services that an apply and a deletion call. */
export function changingServices(context: KindContext): readonly Implementation[] {
  const own = [...resources, ...deletedWithGroup].flatMap(({ implement }) => implement?.(context) ?? []);
  return [...own, ...resources.flatMap(({ file }) => file.part?.implement(context) ?? [])];
}

/**
 * Returns a function that executes a plan in a transaction, and returns the executed plan. If a resource has changed
 * since the plan was made, the function makes the plan again first.
 */
export function planWriter(context: KindContext, callTogether: CallTogether) {
  const { database } = context;
  return async (request: ApplyResourcesRequest, seen: Plan, call: Call): Promise<Plan> => {
    const changes = changingSteps(seen).length;
    if (changes === 0) return seen;
    requireFewChanges(changes, request.groupUid);
    const prepared = await prepare(seen, context);
    const services: ServicesOf = (joined) => changingServices({ ...joined, ...prepared });
    // The execution gives new resources their uids, so a plan is executed once.
    let isUnused = true;
    const attempt = (isConcurrent: boolean) =>
      callTogether(services, { request, changes }, call, async (joined) => {
        const { session } = joined.database;
        const isCurrent = isUnused && (await versionOf(session, request.groupUid)) === seen.version;
        isUnused = false;
        const plan = isCurrent ? seen : await makePlan(session, request, call, newYield());
        requireExpected(request, plan.fingerprint);
        await executePlan(plan, { ...joined, isConcurrent }, call);
        return plan;
      });
    return await attemptTogether(database.session, attempt);
  };
}

/** Fetches from other servers before the transaction starts, because a transaction must not wait for them. */
async function prepare({ steps }: Plan, { discover, encryption }: KindOptions): Promise<KindOptions> {
  let options: KindOptions = { discover, encryption };
  for (const { name, file } of resources) {
    if (!file.prepare) continue;
    const changes = steps
      .filter(({ resource, fields }) => resource.case === name && fields.length > 0)
      .map(({ resource, fields }) => ({ value: resource.value, fields: fields.map(({ field }) => field) }));
    // Also without changes: a plan that is made again in the transaction must not fetch either.
    options = await file.prepare(changes, options);
  }
  return options;
}
