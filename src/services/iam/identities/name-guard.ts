// Compares the names of workloads with the pins of identities in the database, pins names at their first use, and notes refused ones.
import { LRUCache } from "lru-cache";
import { aborted } from "../../../aip/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import {
  isSameName,
  maxRefusedNames,
  type NamePolicy,
  type NameProblem,
  noTrust,
  type RefusedName,
  type Trust,
} from "../../../model/trust.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import type { IdentityRow } from "../../../storage/iam/rows.ts";
import type { AssumableIdentity } from "../../../sts/assumable-identity.ts";
import { claimDenied, nameDenied } from "../../../sts/denials.ts";
import { judgeNames, type NameJudgement, type PresentedNames, withJudgement } from "../../../sts/trust/pinned-names.ts";
import { storeTrust } from "./stored-trust.ts";

/** How long the same refused name is not written again, in milliseconds. */
const noteIntervalMs = 60_000;

/** How many refused names are known to be written recently. */
const maxNoted = 10_000;

/** The settings of the comparison. */
export interface NameGuardOptions {
  /** The policy of identities that have none of their own. */
  readonly pinNames: NamePolicy;
  /** Called for each refused token. */
  readonly onRefused?: ((problem: NameProblem) => void) | undefined;
  /** Called if a refused name could not be noted, which changes no verdict. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The calls since a refused name was written, and when that was. */
interface Noted {
  readonly time: number;
  readonly pending: number;
}

/** Returns the function that throws PERMISSION_DENIED for names with other ids than those pinned. */
export function newNameGuard(database: Database, clock: Clock, options: NameGuardOptions) {
  const noted = new LRUCache<string, Noted>({ max: maxNoted });

  /** Reads the row again: of two first uses with different ids, on any servers, one is pinned and the other is judged by that pin. */
  async function learn(identity: AssumableIdentity, presented: PresentedNames): Promise<NameJudgement> {
    const { uid, updateTime, pins } = identity;
    const context = { actor: uid, method: "LearnName", requestId: "", time: clock() };
    return await database.write(context, async (tx) => {
      const row = await findRow(tx, identityCollection, uid);
      if (row?.updateTime !== updateTime) throw aborted("the identity has changed in the meantime: try again");
      const trust = row.trust ?? noTrust;
      const judged = judgeNames(trust, pins.policy, presented, tx.context.time);
      if (judged.problems.length === 0 && hasNews(judged)) await storeTrust(tx, row, withJudgement(trust, judged));
      return judged;
    });
  }

  async function note(uid: string, problems: readonly NameProblem[]): Promise<void> {
    const now = clock();
    const due = problems.flatMap((problem) => {
      const key = JSON.stringify([uid, problem]);
      const { time, pending } = noted.get(key) ?? { time: Number.NEGATIVE_INFINITY, pending: 0 };
      const isDue = now - time >= noteIntervalMs;
      noted.set(key, isDue ? { time: now, pending: 0 } : { time, pending: pending + 1 });
      return isDue ? { ...problem, lastTime: now, count: pending + 1 } : [];
    });
    if (due.length === 0) return;
    const context = { actor: uid, method: "RefuseName", requestId: "", time: now };
    await database.write(context, async (tx) => {
      const row = await findRow(tx, identityCollection, uid);
      if (row) await storeTrust(tx, row, withRefused(row, due));
    });
  }

  return async (identity: AssumableIdentity, presented: PresentedNames): Promise<void> => {
    const { policy, trust } = identity.pins;
    let judged = judgeNames(trust, policy, presented, clock());
    if (judged.contradictorySubject !== undefined) throw claimDenied("sub", judged.contradictorySubject);
    if (judged.problems.length === 0 && hasNews(judged)) judged = await learn(identity, presented);
    const [problem] = judged.problems;
    if (!problem) return;
    options.onRefused?.(problem);
    await note(identity.uid, judged.problems).catch((error: unknown) => options.onError?.(error));
    throw nameDenied(problem);
  };
}

function hasNews({ learned, unpinned }: NameJudgement): boolean {
  return learned.length > 0 || unpinned.length > 0;
}

function withRefused({ trust }: IdentityRow, added: readonly RefusedName[]): Trust {
  const { refused, ...rest } = trust ?? noTrust;
  const isSame = (one: RefusedName, other: RefusedName) =>
    isSameName(one, other) && one.id === other.id && one.reason === other.reason;
  const counted = added.map((one) => ({
    ...one,
    count: one.count + (refused.find((other) => isSame(one, other))?.count ?? 0),
  }));
  const others = refused.filter((one) => !added.some((other) => isSame(one, other)));
  return { ...rest, refused: [...counted, ...others].slice(0, maxRefusedNames) };
}
