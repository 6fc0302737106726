// Which events of a minute become entries of the audit log: the first of its kind at once, its repetitions in one entry when the
// minute is over. A client that calls in a loop therefore causes two entries a minute, however often it calls.
import type { AccessDetails, AccessEntry, AccessKind } from "../storage/access-entries.ts";
import type { WriteContext } from "../storage/session.ts";
import { rootOf } from "../uid.ts";

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
  /** Entries of one organization within a minute. */
  readonly accessEntriesOfOrganization: number;
  /** Entries of all organizations together within a minute. */
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

/** Shares that are no organization's. */
const [everybody, omissions] = ["all", "omissions"];

/** Counts events, and makes the entries that are to be written. */
export class AccessTally {
  readonly #limits: AccessLimits;
  readonly #add: (entry: AccessEntry) => void;
  #minute = 0;
  #tallies = new Map<string, Tally>();
  /** How many entries this minute had, by organization and under the two shares below. */
  #spent = new Map<string, number>();

  /** `add` takes each entry as soon as it is made. */
  constructor(limits: AccessLimits, add: (entry: AccessEntry) => void) {
    this.#limits = limits;
    this.#add = add;
  }

  /** Counts one event; `time` is in milliseconds since the epoch. */
  record(event: AccessEvent, time: number): void {
    this.advance(time);
    if (event.groupUids.length === 0 || this.#count(keyOf(event), event, time)) return;
    // What the limits keep out is counted by organization and kind.
    for (const omitted of omittedOf(event)) this.#count(keyOf(omitted), omitted, time);
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
  }

  /** Answers false when the limits leave no room for a first event of this key. */
  #count(key: string, event: AccessEvent, time: number): boolean {
    const tally = this.#tallies.get(key);
    if (tally) {
      tally.repetitions++;
      if (tally.repetitions === 1) tally.firstTime = time;
      tally.lastTime = time;
      return true;
    }
    if (!this.#spend(event)) return false;
    this.#tallies.set(key, { event, repetitions: 0, firstTime: time, lastTime: time });
    this.#write(event, { count: 1, firstTime: time, lastTime: time });
    return true;
  }

  /** What was omitted has a share of its own, so that an organization that had its share is still told. */
  #spend({ groupUids, details }: AccessEvent): boolean {
    const isOmission = details.outcome === "omitted";
    const shares = isOmission ? [omissions] : [...new Set(groupUids.map(rootOf)), everybody];
    const limitOf = (share: string) =>
      share === omissions || share === everybody
        ? this.#limits.accessEntries
        : this.#limits.accessEntriesOfOrganization;
    if (shares.some((share) => (this.#spent.get(share) ?? 0) >= limitOf(share))) return false;
    for (const share of shares) this.#spent.set(share, (this.#spent.get(share) ?? 0) + 1);
    return true;
  }

  #write({ kind, by, uid, groupUids, details }: AccessEvent, times: Times): void {
    for (const groupUid of groupUids) this.#add({ kind, by, uid, groupUid, details: { ...details, ...times } });
  }
}

type Times = Pick<AccessDetails, "count" | "firstTime" | "lastTime">;

/** Events of one key within a minute are alike; of what strangers choose freely nothing is in it. */
function keyOf({ kind, by, uid, groupUids, details }: AccessEvent): string {
  // A caller who tries one uid after another is still one caller: the entry has the first uid.
  const about = kind === "denials" && details.outcome !== "omitted" ? "" : uid;
  const organizations = groupUids.map(rootOf).join();
  return [organizations, kind, by.actor, by.method, about, details.outcome, details.check ?? ""].join("\0");
}

function omittedOf({ kind, groupUids }: AccessEvent): AccessEvent[] {
  const by = { actor: "", method: "access", requestId: "" };
  const details = { outcome: "omitted" } as const;
  return [...new Set(groupUids.map(rootOf))].map((uid) => ({ kind, by, uid, groupUids: [uid], details }));
}
