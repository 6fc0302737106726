// The clients: each makes random calls, one after another, and adds what it saw to the history.
import { setTimeout as pause } from "node:timers/promises";
import { AccessCalls } from "./access-calls.ts";
import { Client, NotSent, type Route, transports } from "./clients.ts";
import { type History, now } from "./history.ts";
import type { Installation } from "./installation.ts";
import { UnexpectedResponse } from "./operations.ts";
import { newRandom, pick, type Random } from "./random.ts";
import type { Replica } from "./replica.ts";
import { ResourceCalls } from "./resource-calls.ts";
import { type AccessSlot, kinds, type Slot, type Slots } from "./slots.ts";

/** The targets of the workload. */
export interface WorkloadOptions {
  readonly seed: number;
  readonly replicas: readonly Replica[];
  readonly installation: Installation;
  readonly slots: Slots;
  readonly history: History;
}

/** How often each call is made, of a thousand. */
const weights = {
  get: 310,
  list: 160,
  update: 130,
  create: 86,
  delete: 60,
  changeChild: 30,
  probe: 200,
  bind: 12,
  unbind: 12,
} as const;
type Action = keyof typeof weights;

/** The orders of lists: each has cached pages of its own. */
const orders = ["", "name", "create_time desc"] as const;

/** Half of the calls follow the one before at once; the others after so many milliseconds at most. */
const maxPauseMs = 40;

/** How often a read is made at most, one time after another. */
const maxRepeats = 4;

/** All that is random about one call. It is drawn for every call, so the seed alone decides it. */
interface Step {
  readonly action: Action;
  readonly slot: Slot;
  readonly access: AccessSlot;
  readonly route: Route;
  readonly variant: number;
  readonly repeats: number;
  readonly pauseMs: number;
}

/** One client of the workload. */
export class WorkloadClient implements Disposable {
  readonly #options: WorkloadOptions;
  readonly #random: Random;
  readonly #client: Client;
  readonly #resources: ResourceCalls;
  readonly #access: AccessCalls;
  #ids = 0;

  constructor(options: WorkloadOptions, index: number) {
    const name = `c${index}`;
    this.#options = options;
    this.#random = newRandom(options.seed, index);
    this.#client = new Client(name);
    const { slots, history, installation } = options;
    const newId = () => `${name}n${++this.#ids}`;
    const context = { client: this.#client, token: installation.ownerToken, slots, history, newId };
    this.#resources = new ResourceCalls(context);
    this.#access = new AccessCalls(context);
  }

  /** Makes calls until the time of the test is `until`. */
  async run(until: number): Promise<void> {
    while (now() < until) {
      const step = this.#draw();
      await this.#complaining(() => this.#actions[step.action](step));
      if (step.pauseMs > 0) await pause(step.pauseMs);
    }
  }

  /** How often each code was received. */
  get codes(): ReadonlyMap<string, number> {
    return this.#client.codes;
  }

  /** Lists everything on a replica. */
  async listAll(replica: Replica): Promise<void> {
    for (const transport of transports)
      for (const folder of this.#options.installation.folders)
        for (const kind of kinds)
          for (const orderBy of orders)
            await this.#complaining(() => this.#resources.list(kind, folder, { replica, transport }, orderBy));
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]();
  }

  readonly #actions: Readonly<Record<Action, (step: Step) => Promise<void>>> = {
    get: (step) => this.#repeating(step, () => this.#resources.get(step.slot, step.route)),
    list: (step) =>
      this.#repeating(step, () => {
        const { slot, route, variant } = step;
        return variant === orders.length && slot.kind === "repos"
          ? this.#resources.find(slot, route)
          : this.#resources.list(slot.kind, slot.folder, route, orders[variant % orders.length]!);
      }),
    probe: ({ access, route }) => this.#access.probe(access, route),
    update: ({ slot, route, variant }) => this.#resources.update(slot, route, variant % 2 === 0),
    create: ({ slot, route }) => this.#resources.create(slot, route),
    delete: ({ slot, route }) => this.#resources.delete(slot, route),
    changeChild: ({ slot, route }) => this.#resources.changeChild(slot, route),
    bind: ({ access, route }) => this.#access.bind(access, route),
    unbind: ({ access, route }) => this.#access.unbind(access, route),
  };

  /** Makes a call several times: the second one is cached, and later ones are hits. */
  async #repeating({ repeats }: Step, call: () => Promise<void>): Promise<void> {
    for (let times = 0; times < repeats; times++) await call();
  }

  #draw(): Step {
    const { slots, replicas } = this.#options;
    let rest = this.#random(1000);
    const action = (Object.keys(weights) as Action[]).find((each) => {
      rest -= weights[each];
      return rest < 0;
    })!;
    return {
      action,
      slot: slots.resources[this.#skewed(slots.resources.length)]!,
      access: pick(this.#random, slots.access),
      route: { replica: pick(this.#random, replicas), transport: pick(this.#random, transports) },
      variant: this.#random(orders.length + 1),
      repeats: 1 + this.#random(maxRepeats),
      pauseMs: Math.max(0, this.#random(2 * maxPauseMs) - maxPauseMs),
    };
  }

  /** Returns a small number more often than a large one, because only some rows should be in the caches. */
  #skewed(below: number): number {
    return Math.min(this.#random(below), this.#random(below), this.#random(below));
  }

  async #complaining(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof UnexpectedResponse) this.#options.history.complain(error.message);
      else if (!(error instanceof NotSent)) throw error;
    }
  }
}
