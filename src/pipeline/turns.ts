// Expensive calls: those of one caller run one at a time, and methods of our own have a budget of computing time for each caller.
import { rateLimited } from "../aip/errors.ts";
import type { Clock } from "../base/clock.ts";
import { measureWork } from "../base/slices.ts";
import { rootOf } from "../model/uid.ts";
import { callerOf } from "./authorize.ts";
import type { Call } from "./call.ts";
import { type BudgetLimits, newTimeBudget, type TimeBudget } from "./time-budget.ts";

/** The limits of expensive calls. */
export interface TurnLimits {
  /** Expensive calls of one organization's identities that run at a time. Of one caller, one runs. */
  readonly turnsOfOrganization: number;
  /** Calls of one caller to methods of our own that wait for their turn; one more is rejected. */
  readonly waitingTurns: number;
  readonly callerBudget: BudgetLimits;
  readonly organizationBudget: BudgetLimits;
}

/** Runs expensive calls in turn. */
export interface Turns {
  /** Throws RESOURCE_EXHAUSTED with RetryInfo if the caller of a method with a budget has used it up. */
  requireBudget(call: Call): void;
  /**
   * Runs the body of an expensive call when its caller has no other running, and measures its time. `hasWaited` says whether other calls
   * came first. Rejects with RESOURCE_EXHAUSTED and RetryInfo if the method has a budget and that is used up, or if too many calls wait.
   */
  run<T>(call: Call, isBudgeted: boolean, body: (hasWaited: boolean) => Promise<T>): Promise<T>;
}

/** How long a caller with too many waiting calls is told to wait, in milliseconds. */
const crowdedMs = 1_000;

/** Creates turns that nobody has. Limits count in this process. */
export function newTurns(limits: TurnLimits, clock: Clock): Turns {
  const ofCallers = new Queues(1);
  const ofOrganizations = new Queues(limits.turnsOfOrganization);
  const budgets = {
    caller: newTimeBudget(limits.callerBudget, clock),
    organization: newTimeBudget(limits.organizationBudget, clock),
  };

  function accountsOf(call: Call): (readonly [TimeBudget, string])[] {
    const { uid } = callerOf(call);
    const organization = organizationOf(uid);
    const own = [budgets.caller, uid] as const;
    return organization === undefined ? [own] : [own, [budgets.organization, organization]];
  }

  function requireBudget(call: Call): void {
    if (!call.isAdmitted) for (const [budget, key] of accountsOf(call)) requireTime(budget, key);
  }

  function spend(uid: string, organization: string | undefined, usedMs: number): void {
    const coveredMs = budgets.caller.spend(uid, usedMs);
    // The time beyond the budget of a caller must not be missing for others of the organization.
    if (organization !== undefined) budgets.organization.spend(organization, coveredMs);
  }

  return {
    requireBudget,

    async run(call, isBudgeted, body) {
      const { uid } = callerOf(call);
      const organization = organizationOf(uid);
      if (isBudgeted) requireBudget(call);
      if (isBudgeted && ofCallers.waitingFor(uid) >= limits.waitingTurns)
        throw rateLimited("too many expensive calls of this caller are waiting; send fewer at a time", crowdedMs);
      return await ofCallers.run(uid, call.signal, (hasWaited) => {
        const runWork = (hasWaitedToo: boolean) =>
          measureWork(call.signal, async (work) => {
            // The budget may have been spent while the call waited.
            if (isBudgeted && (hasWaited || hasWaitedToo)) requireBudget(call);
            try {
              return await body(hasWaited || hasWaitedToo);
            } finally {
              if (isBudgeted) spend(uid, organization, work.usedMs());
            }
          });
        return organization === undefined ? runWork(false) : ofOrganizations.run(organization, call.signal, runWork);
      });
    },
  };
}

/** People and built-in identities belong to no organization. */
function organizationOf(uid: string): string | undefined {
  return uid.includes("/") ? rootOf(uid) : undefined;
}

function requireTime(budget: TimeBudget, key: string): void {
  const retryMs = budget.retryMs(key);
  if (retryMs > 0)
    throw rateLimited("the expensive calls of this caller have used up their computing time; try again later", retryMs);
}

/** A call that waits. */
type Start = () => void;

/** A queue for each key, in which a number of bodies may run at the same time. */
class Queues {
  readonly #atOnce: number;
  readonly #queues = new Map<string, { running: number; readonly waiting: Set<Start> }>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  waitingFor(key: string): number {
    return this.#queues.get(key)?.waiting.size ?? 0;
  }

  /** Runs the body, first come, first served. Rejects with the reason of the signal if it is aborted before. */
  async run<T>(key: string, signal: AbortSignal | undefined, body: (hasWaited: boolean) => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? { running: 0, waiting: new Set() };
    this.#queues.set(key, queue);
    const hasToWait = queue.running >= this.#atOnce;
    if (hasToWait) await waitIn(queue.waiting, signal);
    else queue.running++;
    try {
      return await body(hasToWait);
    } finally {
      const [next] = queue.waiting;
      // The next one takes over the place: nobody may come in between.
      if (next) next();
      else if (--queue.running === 0) this.#queues.delete(key);
    }
  }
}

function waitIn(waiting: Set<Start>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.delete(start);
      reject(signal!.reason);
    };
    const start = () => {
      waiting.delete(start);
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    waiting.add(start);
    signal?.addEventListener("abort", leave, { once: true });
  });
}
