// Dispatches events to subscriptions. One node at a time does so, under a lease; it stops when another node has taken over.
import type { Logger } from "pino";
import { newOutcomeCounts } from "../base/outcome-counts.ts";
import { randomHex } from "../base/random.ts";
import { rootOf } from "../model/uid.ts";
import { lastChange } from "../storage/change-log/change-log.ts";
import type { WriteContext } from "../storage/engine/session.ts";
import {
  type DueFilter,
  findDueQueues,
  type NextDelivery,
  resetFutureRetries,
} from "../storage/events/delivery-queues.ts";
import { advanceEventPosition, hasSubscriptions, readEventPosition } from "../storage/events/subscribers.ts";
import { isLeaseFree, type Lease, releaseLease, takeLease } from "../storage/installation/lease.ts";
import { type DeliveryContext, deliverQueue, maxRetryDelayMs, type Outcome, slowSinkMs } from "./delivery-queue.ts";
import { type FanOutContext, fanOut } from "./fan-out.ts";
import type { SenderOptions } from "./sender.ts";

/** Times are in milliseconds. */
const limits = {
  /** How often a node looks for work. */
  intervalMs: 500,
  /** Without subscriptions, the position in the change log is stored after this many changes. */
  skippedChanges: 1_000,
  /** How many due queues are read at once. */
  queues: 200,
} as const;

/** A pool of workers for subscriptions whose last attempt took this long. */
interface WorkerPool extends Required<Pick<DueFilter, "lasted">> {
  readonly size: number;
  /** The maximum number of workers of one organization. */
  readonly sizePerOrganization: number;
}

/** Slow sinks have a pool of their own, so they take no workers from the others. */
const pools: readonly WorkerPool[] = [
  { lasted: [0, slowSinkMs], size: 24, sizePerOrganization: 4 },
  { lasted: [slowSinkMs + 1, Number.MAX_SAFE_INTEGER], size: 8, sizePerOrganization: 1 },
];

/** Other nodes can take over from a dead node after this time. It is longer than an attempt takes. */
const lease: Lease = { name: "events_lease", length: 30_000 };

/** The running dispatcher. Disposing aborts requests in progress; `drain` lets them finish first. */
export interface EventDelivery extends AsyncDisposable {
  /** Starts no more deliveries, and waits up to `timeoutMs` for those in progress. */
  drain(timeoutMs: number): Promise<void>;
  /** The number of deliveries since the start, by outcome. */
  readonly counts: Readonly<Record<Outcome, number>>;
}

/** The dependencies of the dispatcher. */
export interface EventDeliveryOptions
  extends Pick<DeliveryContext, "database" | "encryption" | "sender" | "inactivityOf">,
    Pick<FanOutContext, "find"> {
  readonly log: Pick<Logger, "info" | "warn">;
  /** Called after each attempt with the group of the subscription, and for each dropped event. */
  readonly count: (outcome: Outcome, groupUid: string) => void;
}

/** Starts the dispatcher. */
export function deliverEvents(options: EventDeliveryOptions): EventDelivery {
  return new Dispatcher(options);
}

class Dispatcher implements EventDelivery {
  readonly #outcomes = newOutcomeCounts(["delivered", "failed", "refused", "given_up"] satisfies Outcome[]);
  readonly counts: Readonly<Record<Outcome, number>> = this.#outcomes.counts;
  readonly #options: EventDeliveryOptions;
  readonly #sender: SenderOptions;
  readonly #abort = new AbortController();
  readonly #holder = randomHex(16);
  readonly #timer: NodeJS.Timeout;
  /** Running workers by subscription. A subscription has at most one, in one pool: two would break the order of its events. */
  readonly #workers = new Map<string, { readonly pool: WorkerPool; readonly end: Promise<void> }>();
  #running: Promise<void> | undefined;
  #leaseEnd = 0;
  #isStopped = false;
  #isBroken = false;

  constructor(options: EventDeliveryOptions) {
    this.#options = options;
    const { sender } = options;
    this.#sender = { ...sender, outbound: { ...sender.outbound, signal: this.#abort.signal } };
    this.#timer = setInterval(() => {
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined;
      });
    }, limits.intervalMs);
  }

  async drain(timeoutMs: number): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), timeoutMs);
    await this.#stop();
    clearTimeout(timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#stop();
  }

  async #stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#running;
    await Promise.all([...this.#workers.values()].map(({ end }) => end));
    if (this.#leaseEnd === 0) return;
    await this.#guarded(() =>
      this.#options.database.write(this.#context(), (tx) => releaseLease(tx, lease, this.#holder)),
    );
    this.#leaseEnd = 0;
  }

  async #run(): Promise<void> {
    await this.#guarded(async () => {
      if (!(await this.#hasWork())) return;
      const { database, find, sender, log } = this.#options;
      const fanOutContext: FanOutContext = {
        database,
        find,
        baseUrl: sender.issuer,
        warn: (about, message) => log.warn(about, message),
      };
      let isAll = false;
      // Queues are served between the parts of a long change log.
      while (!isAll && !this.#isStopped && (await this.#leads())) {
        isAll = await fanOut(fanOutContext, this.#context());
        for (const pool of pools) await this.#startDue(pool);
      }
    });
  }

  /** Whether there is work for the node with the lease. Makes a few small reads, and writes nothing without work. */
  async #hasWork(): Promise<boolean> {
    const { session } = this.#options.database;
    const now = this.#context().time;
    if (!(await isLeaseFree(session, lease, this.#holder, now))) return false;
    if ((await findDueQueues(session, { time: now, limit: 1 })).length > 0) return true;
    const position = await readEventPosition(session);
    // Read before the subscriptions: one that is created later has a later sequence number.
    const latest = await lastChange(session);
    if (position >= latest) return false;
    if (await hasSubscriptions(session)) return true;
    if (latest - position >= limits.skippedChanges)
      await this.#options.database.write(this.#context(), (tx) => advanceEventPosition(tx, position, latest));
    return false;
  }

  /** Whether this node has the lease. Renews it in time, and immediately if the clock has gone back. */
  async #leads(): Promise<boolean> {
    const context = this.#context();
    const left = this.#leaseEnd - context.time;
    if (left > lease.length / 2 && left <= lease.length) return true;
    this.#leaseEnd = await this.#options.database.write(context, async (tx) => {
      const end = await takeLease(tx, lease, this.#holder);
      if (end !== undefined) await resetFutureRetries(tx, maxRetryDelayMs);
      return end ?? 0;
    });
    return this.#leaseEnd > 0;
  }

  #mayContinue(): boolean {
    return !this.#isStopped && this.#context().time < this.#leaseEnd;
  }

  /** Starts workers for due queues, as far as the pool has room. Skips organizations that use all of their workers. */
  async #startDue(pool: WorkerPool): Promise<void> {
    const { time } = this.#context();
    let isAll = false;
    while (!isAll && this.#subscriptionsIn(pool).length < pool.size && this.#mayContinue()) {
      const filter = { time, limit: limits.queues, without: this.#fullOrganizations(pool), lasted: pool.lasted };
      const due = await findDueQueues(this.#options.database.session, filter);
      for (const uid of due) if (this.#hasRoomFor(uid, pool)) this.#start(uid, pool);
      isAll = due.length < limits.queues;
    }
  }

  #hasRoomFor(uid: string, pool: WorkerPool): boolean {
    if (this.#subscriptionsIn(pool).length >= pool.size || this.#workers.has(uid)) return false;
    return !this.#fullOrganizations(pool).includes(rootOf(uid));
  }

  #fullOrganizations(pool: WorkerPool): string[] {
    const byOrganization = Map.groupBy(this.#subscriptionsIn(pool), rootOf);
    return [...byOrganization].flatMap(([root, uids]) => (uids.length >= pool.sizePerOrganization ? [root] : []));
  }

  #subscriptionsIn(pool: WorkerPool): string[] {
    return [...this.#workers].flatMap(([uid, one]) => (one.pool === pool ? [uid] : []));
  }

  #start(uid: string, pool: WorkerPool): void {
    const deliveryContext: DeliveryContext = {
      database: this.#options.database,
      encryption: this.#options.encryption,
      sender: this.#sender,
      inactivityOf: this.#options.inactivityOf,
      newWrite: () => this.#context(),
      observe: (outcome, delivery, reason) => this.#observe(outcome, delivery, reason),
    };
    const work = this.#guarded(() => deliverQueue(deliveryContext, uid, () => this.#mayContinue()));
    const end = work.finally(() => this.#workers.delete(uid));
    this.#workers.set(uid, { pool, end });
  }

  #observe(outcome: Outcome, { subscriptionUid, parent, sink, attempts }: NextDelivery, reason: string): void {
    this.#outcomes.count(outcome);
    this.#options.count(outcome, parent);
    // The path of a sink may be a secret.
    const about = { subscription: subscriptionUid, sink: new URL(sink).origin };
    if (outcome === "given_up")
      this.#options.log.warn({ ...about, reason }, "an event was dropped after the maximum time of retries");
    else if (outcome === "delivered" && attempts > 0)
      this.#options.log.info({ ...about, attempts }, "delivering events to the sink works again");
    else if (outcome !== "delivered" && attempts === 0)
      this.#options.log.warn({ ...about, reason }, "delivering an event failed; it will be retried");
  }

  /** Logs a failure of the database once, until it works again. The next run retries. */
  async #guarded(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.#isBroken = false;
    } catch (err) {
      if (!this.#isBroken && !this.#isStopped)
        this.#options.log.warn({ err }, "dispatching events failed; it will be retried");
      this.#isBroken = true;
    }
  }

  #context(): WriteContext {
    return { actor: "", method: "events", requestId: "", time: this.#options.sender.clock() };
  }
}
