// Which events of a minute become entries of the audit log: the first of its kind at once, its repetitions in one entry when the
// minute is over. A client that calls in a loop therefore causes two entries a minute, however often it calls.

import { rootOf } from "../model/uid.ts";
import type { AccessDetails, AccessEntry, AccessKind } from "../storage/change-log/access-entries.ts";
import type { WriteContext } from "../storage/engine/session.ts";

/** Something that happened to access. */
export interface AccessEvent {
  readonly kind: AccessKind;
  /** Who did it, and by which method. */
  readonly by: Pick<WriteContext, "actor" | "actorClaims" | "method" | "requestId">;
  /** The uid that it is about. */
  readonly uid: string;
  /** The groups under which it is filed: their readers see it, and nobody else. */
  readonly groupUids: readonly string[];
  readonly details: Omit<AccessDetails, "count" | "firstTime" | "lastTime">;
}

/** How many entries strangers may cause. Repetitions count once. */
export interface AccessLimits {
  /** Entries of one caller in one organization within a minute; callers whose tokens were not verified are one. */
  readonly accessEntriesOfCaller: number;
  /** Entries of one organization within a minute. */
  readonly accessEntriesOfOrganization: number;
  /** Entries of all organizations together within a minute, beyond which each still has its equal part of so many. */
  readonly accessEntries: number;
}

/** What came of the events of one key within a minute, after the first one. */
interface Tally {
  readonly event: AccessEvent;
  repetitions: number;
  firstTime: number;
  lastTime: number;
}

const minuteMs = 60_000;

/** Counts events, and makes the entries that are to be written. */
export class AccessTally {
  readonly #limits: AccessLimits;
  readonly #add: (entry: AccessEntry) => void;
  #minute = 0;
  #tallies = new Map<string, Tally>();
  /** How many entries this minute had: by organization, by caller in it, of all together, and of what was omitted. */
  #spent = new Map<string, number>();
  #spentByCaller = new Map<string, number>();
  #spentByAll = 0;
  #omissions = 0;

  /** `add` takes each entry as soon as it is made. */
  constructor(limits: AccessLimits, add: (entry: AccessEntry) => void) {
    this.#limits = limits;
    this.#add = add;
  }

  /** Counts one event; `time` is in milliseconds since the epoch. */
  record(event: AccessEvent, time: number): void {
    this.advance(time);
    // Each organization by itself: what one has no room for is still told to the others.
    for (const [organization, groupUids] of Map.groupBy(event.groupUids, rootOf)) {
      const own = { ...event, groupUids };
      if (this.#count(organization, own, time)) continue;
      // What the limits keep out is counted by organization and kind.
      this.#count(organization, omittedOf(own.kind, organization), time);
    }
  }

  /** Makes the entries of the repetitions once the minute of `time` is another one, or at once for the end of all time. */
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

  /** Answers false when the limits leave no room for a first event of this key. */
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

  /** What was omitted has a share of its own, so that an organization that had its share is still told. */
  #spendOmission(): boolean {
    return this.#omissions++ < this.#limits.accessEntries;
  }

  /** A few busy organizations may use up what all have together, and others must not lose their entries by that. */
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

/** Events of one key within a minute are alike; of what strangers choose freely nothing is in it. */
function keyOf(organization: string, { kind, by, uid, details }: AccessEvent): string {
  // A caller who tries one uid after another is still one caller: the entry has the first uid.
  const about = kind === "denials" && details.outcome !== "omitted" ? "" : uid;
  return [organization, kind, by.actor, by.method, about, details.outcome, details.check ?? ""].join("\0");
}

function omittedOf(kind: AccessKind, organization: string): AccessEvent {
  const by = { actor: "", method: "access", requestId: "" };
  return { kind, by, uid: organization, groupUids: [organization], details: { outcome: "omitted" } };
}
