// Tells subscriptions of what has changed. One node at a time does so for all; it stops when another has taken over.
import type { Logger } from "pino";
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
import { type DeliveryContext, longestQuick, longestWait, type Outcome, serveQueue } from "./delivery-queue.ts";
import { type FanOutContext, fanOut } from "./fan-out.ts";
import type { SenderOptions } from "./sender.ts";

/** Times are milliseconds. */
const bounds = {
  /** How often a node looks for something to do. */
  interval: 500,
  /** Changes that nobody has subscribed to, before they are passed over. */
  passedOver: 1_000,
  /** Queues that are read at once. */
  queues: 200,
} as const;

/** How many subscriptions are served at a time, whose last attempt has lasted so long. */
interface Places extends Required<Pick<DueFilter, "lasted">> {
  readonly all: number;
  readonly ofOrganization: number;
}

/** Slow sinks have places of their own: however many they are, they take none from the others. */
const places: readonly Places[] = [
  { lasted: [0, longestQuick], all: 24, ofOrganization: 4 },
  { lasted: [longestQuick + 1, Number.MAX_SAFE_INTEGER], all: 8, ofOrganization: 1 },
];

/** How long a node that has died keeps the others from taking over: longer than an attempt takes. */
const lease: Lease = { name: "events_lease", length: 30_000 };

/** Running deliveries. Disposing of it cuts off what is being sent; `drain` gives that some time first. */
export interface EventDelivery extends AsyncDisposable {
  /** Begins nothing more, and waits for what is being sent: so many milliseconds at most. */
  drain(timeoutMs: number): Promise<void>;
  /** Totals since the start, by outcome. */
  readonly counts: Readonly<Record<Outcome, number>>;
}

/** What delivering rests on. */
export interface EventDeliveryOptions
  extends Pick<DeliveryContext, "database" | "sender" | "inactivityOf">,
    Pick<FanOutContext, "find"> {
  readonly log: Pick<Logger, "info" | "warn">;
}

/** Begins to deliver. */
export function deliverEvents(options: EventDeliveryOptions): EventDelivery {
  return new Deliverer(options);
}

class Deliverer implements EventDelivery {
  readonly counts: Record<Outcome, number> = { delivered: 0, failed: 0, refused: 0, given_up: 0 };
  readonly #options: EventDeliveryOptions;
  readonly #sender: SenderOptions;
  readonly #cutOff = new AbortController();
  readonly #holder = randomHex(16);
  readonly #timer: NodeJS.Timeout;
  /** Each subscription has one place, also when it turns from slow to quick meanwhile: with two, its order would be lost. */
  readonly #served = new Map<string, { readonly at: Places; readonly end: Promise<void> }>();
  #turn: Promise<void> | undefined;
  #leaseEnd = 0;
  #isStopped = false;
  #isBroken = false;

  constructor(options: EventDeliveryOptions) {
    this.#options = options;
    const { sender } = options;
    this.#sender = { ...sender, outbound: { ...sender.outbound, signal: this.#cutOff.signal } };
    this.#timer = setInterval(() => {
      this.#turn ??= this.#takeTurn().finally(() => {
        this.#turn = undefined;
      });
    }, bounds.interval);
  }

  async drain(timeoutMs: number): Promise<void> {
    const timer = setTimeout(() => this.#cutOff.abort(), timeoutMs);
    await this.#stop();
    clearTimeout(timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cutOff.abort();
    await this.#stop();
  }

  async #stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#turn;
    await Promise.all([...this.#served.values()].map(({ end }) => end));
    if (this.#leaseEnd === 0) return;
    await this.#guarded(() =>
      this.#options.database.write(this.#context(), (tx) => releaseLease(tx, lease, this.#holder)),
    );
  }

  async #takeTurn(): Promise<void> {
    await this.#guarded(async () => {
      if (!(await this.#isWanted())) return;
      const { database, find, sender, log } = this.#options;
      const deps: FanOutContext = {
        ...{ database, find, baseUrl: sender.issuer },
        warn: (about, message) => log.warn(about, message),
      };
      let isAll = false;
      // What is in the queues does not wait for the end of a long log.
      while (!isAll && !this.#isStopped && (await this.#leads())) {
        isAll = await fanOut(deps, this.#context());
        for (const at of places) await this.#serveDue(at);
      }
    });
  }

  /** Whether there is something to do, for whoever leads. Costs a few small reads, and nothing is written while there is not. */
  async #isWanted(): Promise<boolean> {
    const { session } = this.#options.database;
    const now = this.#context().time;
    if (!(await isLeaseFree(session, lease, this.#holder, now))) return false;
    if ((await findDueQueues(session, { time: now, limit: 1 })).length > 0) return true;
    const position = await readEventPosition(session);
    // Read before the question who is there: whoever subscribes later has a later number.
    const latest = await lastChange(session);
    if (position >= latest) return false;
    if (await hasSubscriptions(session)) return true;
    if (latest - position >= bounds.passedOver)
      await this.#options.database.write(this.#context(), (tx) => advanceEventPosition(tx, position, latest));
    return false;
  }

  /** Whether this node has the lease, which is prolonged in time; and at once, where the clock has gone back meanwhile. */
  async #leads(): Promise<boolean> {
    const context = this.#context();
    const left = this.#leaseEnd - context.time;
    if (left > lease.length / 2 && left <= lease.length) return true;
    this.#leaseEnd = await this.#options.database.write(context, async (tx) => {
      const end = await takeLease(tx, lease, this.#holder);
      if (end !== undefined) await resetFutureRetries(tx, longestWait);
      return end ?? 0;
    });
    return this.#leaseEnd > 0;
  }

  #mayGoOn(): boolean {
    return !this.#isStopped && this.#context().time < this.#leaseEnd;
  }

  /** Begins to serve whose turn it is, as far as there is room. Those of an organization that has all of its own are not even read. */
  async #serveDue(at: Places): Promise<void> {
    const { time } = this.#context();
    let isAll = false;
    while (!isAll && this.#servedAt(at).length < at.all && this.#mayGoOn()) {
      const filter = { time, limit: bounds.queues, without: this.#fullOrganizations(at), lasted: at.lasted };
      const due = await findDueQueues(this.#options.database.session, filter);
      for (const uid of due) if (this.#hasRoomFor(uid, at)) this.#serve(uid, at);
      isAll = due.length < bounds.queues;
    }
  }

  #hasRoomFor(uid: string, at: Places): boolean {
    if (this.#servedAt(at).length >= at.all || this.#served.has(uid)) return false;
    return !this.#fullOrganizations(at).includes(rootOf(uid));
  }

  #fullOrganizations(at: Places): string[] {
    const served = Map.groupBy(this.#servedAt(at), rootOf);
    return [...served].flatMap(([root, uids]) => (uids.length >= at.ofOrganization ? [root] : []));
  }

  #servedAt(at: Places): string[] {
    return [...this.#served].flatMap(([uid, one]) => (one.at === at ? [uid] : []));
  }

  #serve(uid: string, at: Places): void {
    const deps: DeliveryContext = {
      database: this.#options.database,
      sender: this.#sender,
      inactivityOf: this.#options.inactivityOf,
      context: () => this.#context(),
      observe: (outcome, delivery, reason) => this.#observe(outcome, delivery, reason),
    };
    const served = this.#guarded(() => serveQueue(deps, uid, () => this.#mayGoOn()));
    const end = served.finally(() => this.#served.delete(uid));
    this.#served.set(uid, { at, end });
  }

  #observe(outcome: Outcome, { subscriptionUid, sink, attempts }: NextDelivery, reason: string): void {
    this.counts[outcome]++;
    // The path of a sink may be a secret.
    const about = { subscription: subscriptionUid, sink: new URL(sink).origin };
    if (outcome === "given_up") this.#options.log.warn({ ...about, reason }, "an event was given up");
    else if (outcome === "delivered" && attempts > 0)
      this.#options.log.info({ ...about, attempts }, "events are delivered again");
    else if (outcome !== "delivered" && attempts === 0)
      this.#options.log.warn({ ...about, reason }, "an event could not be delivered; it is tried again");
  }

  /** What goes wrong with the database is told once, until it goes well again: the next turn tries anew. */
  async #guarded(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.#isBroken = false;
    } catch (err) {
      if (!this.#isBroken && !this.#isStopped) this.#options.log.warn({ err }, "events could not be delivered");
      this.#isBroken = true;
    }
  }

  #context(): WriteContext {
    return { actor: "", method: "events", requestId: "", time: this.#options.sender.clock() };
  }
}
