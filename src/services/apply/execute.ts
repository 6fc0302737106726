// Executes a plan in a transaction: every step by the method of the API that a caller would use for it.
import { PlannedAction } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { Access } from "../../authz/access.ts";
import { timedGrants } from "../../authz/grants.ts";
import { newYield } from "../../base/yielding.ts";
import { accessOf, callerOf, methodOf } from "../../pipeline/authorize.ts";
import { type Call, callAs } from "../../pipeline/call.ts";
import type { NestedCall } from "../../pipeline/nested-methods.ts";
import type { Session } from "../../storage/engine/session.ts";
import type { JoinedDatabase } from "../../storage/joined-database.ts";
import type { Uids } from "../kinds/spec.ts";
import { runAll, runsOf } from "./concurrent-runs.ts";
import { describeFailure } from "./failures.ts";
import { rolesOf } from "./joined-calls.ts";
import { kindNamed } from "./kinds.ts";
import type { Plan, Step } from "./plan.ts";
import { creation, deletion, type Operation, settingOfPart, update } from "./requests.ts";

/** The dependencies of the steps of a plan. */
export interface Execution {
  readonly database: JoinedDatabase;
  readonly callMethod: NestedCall;
  /** Whether creations may run at the same time. Their failures are then not told apart. */
  readonly isConcurrent: boolean;
}

/** Executes a plan. Throws the failure of the first step that fails; the transaction must then fail too. */
export async function executePlan({ names, steps }: Plan, execution: Execution, given: Call): Promise<void> {
  const uids = names.uids();
  let call = given;
  const yieldNow = newYield();
  const run = async (step: Step) => {
    await yieldNow();
    await runStep(step, uids, execution, call);
  };
  for (const some of runsOf(steps, execution.isConcurrent ? concurrencyOf : () => "")) {
    await runAll(execution.database, some, run);
    // The creator of an organization is its owner.
    if (some[0]!.resource.case === "organization") call = await renewed(execution.database.session, call);
  }
}

async function runStep(step: Step, uids: Uids, { callMethod }: Execution, call: Call): Promise<void> {
  try {
    const operation = operationOf(step, uids);
    const result = operation && (await callMethod(operation.method, operation.request, call));
    const { uid = step.stored?.uid ?? "" } = (result ?? {}) as { readonly uid?: string };
    if (step.action === PlannedAction.CREATE && step.wanted?.target) step.wanted.target.uid = uid;
    const part = partOf(step, uid);
    if (part) await callMethod(part.method, part.request, call);
  } catch (error) {
    throw describeFailure(error, step);
  }
}

function operationOf({ action, resource, stored, fields }: Step, uids: Uids): Operation | undefined {
  if (action === PlannedAction.CREATE) return creation(resource, uids);
  if (action === PlannedAction.DELETE) return deletion(resource.case, stored!.uid);
  const names = fields.map(({ field }) => field);
  return action === PlannedAction.UPDATE ? update(resource, stored!.uid, names, uids) : undefined;
}

function partOf({ action, resource, fields }: Step, uid: string): Operation | undefined {
  if (action === PlannedAction.CREATE) return settingOfPart(resource, uid, "all");
  if (action !== PlannedAction.UPDATE) return undefined;
  return settingOfPart(
    resource,
    uid,
    fields.map(({ field }) => field),
  );
}

/** Equal for creations that may run at the same time; empty for a step that runs alone. A group needs its parent. */
function concurrencyOf({ action, resource, name }: Step): string {
  if (action !== PlannedAction.CREATE || !kindNamed(resource.case).file.createsAlongside?.(resource.value)) return "";
  return resource.case === "group" ? `group ${name.split("/").length}` : resource.case;
}

/** Returns the call with the access that the caller has in the transaction. */
async function renewed(session: Session, call: Call): Promise<Call> {
  const { grants, terms } = timedGrants(await rolesOf(session, call), session.termTime());
  const { narrowing } = callerOf(call).token;
  const { epoch, uses } = accessOf(call);
  return { ...callAs(call, methodOf(call)), access: new Access(grants, narrowing, epoch, terms, uses) };
}
