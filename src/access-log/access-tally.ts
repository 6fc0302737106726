// Aggregates access events by minute. The first event of a key becomes an entry immediately, its repetitions become one entry at
// the end of the minute. So a client that calls in a loop causes two entries per minute.

import { rootOf } from "../model/uid.ts";
import type { AccessDetails, AccessEntry, AccessKind } from "../storage/change-log/access-entries.ts";
import type { WriteContext } from "../storage/engine/session.ts";

/** A denial, token exchange or other access event. */
export interface AccessEvent {
  readonly kind: AccessKind;
  /** The actor and the method. */
  readonly by: Pick<WriteContext, "actor" | "actorClaims" | "method" | "requestId">;
  /** The uid of the resource. */
  readonly uid: string;
  /** The groups whose audit logs contain the entry. */
  readonly groupUids: readonly string[];
  readonly details: Omit<AccessDetails, "count" | "firstTime" | "lastTime">;
}

/** Limits of the entries that callers can cause. Repetitions count once. */
export interface AccessLimits {
  /** Entries per caller, organization and minute. All callers without a verified token count as one. */
  readonly accessEntriesOfCaller: number;
  /** Entries per organization and minute. */
  readonly accessEntriesOfOrganization: number;
  /** Entries of all organizations per minute. When they are used up, each organization still gets an equal share. */
  readonly accessEntries: number;
}

/** The repetitions of an event within a minute. */
interface Tally {
  readonly event: AccessEvent;
  repetitions: number;
  firstTime: number;
  lastTime: number;
}

const minuteMs = 60_000;

/** Counts events and makes entries of them. */
export class AccessTally {
  readonly #limits: AccessLimits;
  readonly #add: (entry: AccessEntry) => void;
  #minute = 0;
  #tallies = new Map<string, Tally>();
  /** The entries of this minute: by organization, by caller in an organization, in total, and of omissions. */
  #spent = new Map<string, number>();
  #spentByCaller = new Map<string, number>();
  #spentByAll = 0;
  #omissions = 0;

  /** `add` receives each entry as soon as it is made. */
  constructor(limits: AccessLimits, add: (entry: AccessEntry) => void) {
    this.#limits = limits;
    this.#add = add;
  }

  /** Counts one event; `time` is in milliseconds since the epoch. */
  record(event: AccessEvent, time: number): void {
    this.advance(time);
    // Each organization has its own limit: one that is full does not affect the others.
    for (const [organization, groupUids] of Map.groupBy(event.groupUids, rootOf)) {
      const own = { ...event, groupUids };
      if (this.#count(organization, own, time)) continue;
      // Omitted events are counted by organization and kind.
      this.#count(organization, omittedOf(own.kind, organization), time);
    }
  }

  /** Makes the entries of repetitions if `time` is in another minute. Pass infinity to make them immediately. */
  advance(time: number): void {
    const minute = Math.floor(time / minuteMs);
    if (minute === this.#minute) return;
    this.#minute = minute;
    for (const { event, repetitions: count, firstTime, lastTime } of this.#tallies.values())
      if (count > 0) this.#write(event, { count, firstTime, lastTime });
    this.#tallies = new Map();
    this.#spent = new Map();
    this.#spentByCaller = new Map();
    [this.#spentByAll, this.#omissions] = [0, 0];
  }

  /** Counts an event. Returns false if the limits allow no entry for a new key. */
  #count(organization: string, event: AccessEvent, time: number): boolean {
    const key = keyOf(organization, event);
    const tally = this.#tallies.get(key);
    if (tally) {
      tally.repetitions++;
      if (tally.repetitions === 1) tally.firstTime = time;
      tally.lastTime = time;
      return true;
    }
    const hasRoom =
      event.details.outcome === "omitted" ? this.#spendOmission() : this.#spend(organization, event.by.actor);
    if (!hasRoom) return false;
    this.#tallies.set(key, { event, repetitions: 0, firstTime: time, lastTime: time });
    this.#write(event, { count: 1, firstTime: time, lastTime: time });
    return true;
  }

  /** Omissions have a limit of their own, so an organization that used up its limit still sees them. */
  #spendOmission(): boolean {
    return this.#omissions++ < this.#limits.accessEntries;
  }

  /** Checks the limits and counts an entry. Busy organizations can use up the total limit, but not the share of the others. */
  #spend(organization: string, actor: string): boolean {
    const { accessEntriesOfCaller, accessEntriesOfOrganization, accessEntries } = this.#limits;
    const caller = `${organization} ${actor}`;
    const spentByCaller = this.#spentByCaller.get(caller) ?? 0;
    const spent = this.#spent.get(organization) ?? 0;
    const organizations = this.#spent.size + (spent === 0 ? 1 : 0);
    const mayHave = this.#spentByAll < accessEntries ? accessEntries : Math.floor(accessEntries / organizations);
    if (spent >= Math.min(accessEntriesOfOrganization, mayHave) || spentByCaller >= accessEntriesOfCaller) return false;
    this.#spent.set(organization, spent + 1);
    this.#spentByCaller.set(caller, spentByCaller + 1);
    this.#spentByAll++;
    return true;
  }

  #write({ kind, by, uid, groupUids, details }: AccessEvent, times: Times): void {
    for (const groupUid of groupUids) this.#add({ kind, by, uid, groupUid, details: { ...details, ...times } });
  }
}

type Times = Pick<AccessDetails, "count" | "firstTime" | "lastTime">;

/** Returns the key by which events are aggregated. It contains nothing that strangers choose freely. */
function keyOf(organization: string, { kind, by, uid, details }: AccessEvent): string {
  // Denials of a caller at different uids are aggregated: the entry has the first uid.
  const about = kind === "denials" && details.outcome !== "omitted" ? "" : uid;
  return [organization, kind, by.actor, by.method, about, details.outcome, details.check ?? ""].join("\0");
}

function omittedOf(kind: AccessKind, organization: string): AccessEvent {
  const by = { actor: "", method: "access", requestId: "" };
  return { kind, by, uid: organization, groupUids: [organization], details: { outcome: "omitted" } };
}
