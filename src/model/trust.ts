// The pins of an identity: which id each name of a workload had at its first use, and what was refused since.

/** How names are compared with their ids. */
export type NamePolicy = "first-use" | "explicit" | "off";

/** The origin of a pin: the first use of the name, a request that names the id, or a refused name that was accepted. */
export type PinSource = "first-use" | "explicit" | "accepted";

/** The reasons for which names are refused. */
export const nameReasons = ["NAME_REUSED", "ID_MISSING", "NAME_UNKNOWN"] as const;

/** A reason for which a name is refused. */
export type NameReason = (typeof nameReasons)[number];

/** A name with its id; empty texts where a token has none. */
export interface NameWithId {
  /** The kind, such as `repository`. */
  readonly kind: string;
  readonly name: string;
  readonly id: string;
}

/** A name that is refused, and why. */
export interface NameProblem extends NameWithId {
  readonly reason: NameReason;
}

/** A name that only the workload with this id may have. Times are in milliseconds since the epoch. */
export interface PinnedName extends NameWithId {
  readonly source: PinSource;
  readonly time: number;
}

/** A name of tokens that were refused. */
export interface RefusedName extends NameProblem {
  readonly lastTime: number;
  readonly count: number;
}

/** A name that got in and could not be pinned: its tokens have no id, or there are too many names. */
export interface UnpinnedName {
  readonly kind: string;
  readonly name: string;
  readonly reason: "ID_MISSING" | "TOO_MANY";
}

/** The trust of an identity, as it is stored with it. */
export interface Trust {
  /** The policy of the identity; that of the installation if absent. */
  readonly policy?: NamePolicy;
  readonly pins: readonly PinnedName[];
  /** The newest refused names, the newest first. */
  readonly refused: readonly RefusedName[];
  /** The last name of each kind that could not be pinned. */
  readonly unpinned?: readonly UnpinnedName[];
}

/** The trust of an identity of which none is stored. */
export const noTrust: Trust = { pins: [], refused: [] };

/** The maximum number of pinned names for each kind. */
export const maxPinnedNames = 32;

/** The maximum number of refused names. */
export const maxRefusedNames = 8;

/** The maximum length of all pins as JSON: with refused names, the trust of an identity has at most 16 KiB. */
export const maxPinsLength = 8192;

/** The maximum length of a name or an id. */
export const maxNameLength = 256;

/** Returns a name in the form in which it is compared: forges and clouds ignore the case. */
export function foldName(name: string): string {
  return name.toLowerCase();
}

/** Whether two names of a kind are the same. */
export function isSameName(one: Pick<NameWithId, "kind" | "name">, other: Pick<NameWithId, "kind" | "name">): boolean {
  return one.kind === other.kind && foldName(one.name) === foldName(other.name);
}
