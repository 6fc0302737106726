// Compares the names of a workload with the ids that are pinned: a name that another owner took later has another id.
import {
  isSameName,
  maxPinnedNames,
  maxPinsLength,
  type NamePolicy,
  type NameProblem,
  type NameReason,
  type NameWithId,
  type PinnedName,
  type Trust,
  type UnpinnedName,
} from "../../model/trust.ts";
import type { Claims } from "../claim-match.ts";
import { issuerOf } from "./issuers.ts";

/** The names of a verified token or request. */
export interface PresentedNames {
  /** From the outermost to the innermost. */
  readonly names: readonly NameWithId[];
  /** The subject, if an id in it differs from the one in a claim; undefined if none does. */
  readonly contradictorySubject?: unknown;
  readonly isPinnedAtFirstUse: boolean;
}

/** The result of the comparison of names with pins. */
export interface NameJudgement {
  /** The subject, if it denies the token: an id in it differs from the one in a claim. */
  readonly contradictorySubject?: unknown;
  /** The refused names, the outermost first; none if the token gets in. */
  readonly problems: readonly NameProblem[];
  /** The pins to add. */
  readonly learned: readonly PinnedName[];
  /** The names to note that cannot be pinned. */
  readonly unpinned: readonly UnpinnedName[];
}

/** Returns the names in the claims of a verified token; none if its issuer is not in the catalogue. */
export function presentedNames(claims: Claims): PresentedNames {
  const issuer = issuerOf(claims);
  const read = (issuer?.kinds ?? []).map(({ kind, nameOf, idOf, subjectIdOf }) => {
    const one: NameWithId = { kind, name: nameOf(claims) ?? "", id: idOf(claims) ?? "" };
    return { one, subjectId: subjectIdOf?.(claims) ?? one.id };
  });
  return {
    names: read.map(({ one }) => one),
    ...(read.some(({ one, subjectId }) => subjectId !== one.id) && { contradictorySubject: claims.sub }),
    isPinnedAtFirstUse: issuer?.isPinnedAtFirstUse(String(claims.iss)) ?? false,
  };
}

/** Compares names with the pins of an identity. `now` is the time of new pins. */
export function judgeNames(
  trust: Trust,
  policy: NamePolicy,
  { names, contradictorySubject, isPinnedAtFirstUse }: PresentedNames,
  now: number,
): NameJudgement {
  if (policy === "off") return { problems: [], learned: [], unpinned: [] };
  const problems: NameProblem[] = [];
  const learned: PinnedName[] = [];
  const unpinned: UnpinnedName[] = [];
  for (const presented of names) {
    const reason = reasonAgainst(trust.pins, policy, presented);
    if (reason) problems.push({ ...presented, reason });
    else if (isPinnedAtFirstUse && !isPinned(trust.pins, presented)) {
      const pin: PinnedName = { ...presented, source: "first-use", time: now };
      if (presented.id !== "" && presented.name !== "" && hasRoom(trust, [...learned, pin])) learned.push(pin);
      else unpinned.push(noteOf(presented));
    }
  }
  const isKnown = (one: UnpinnedName) =>
    trust.unpinned?.some(({ kind, reason }) => kind === one.kind && reason === one.reason);
  const noted = unpinned.filter((one) => one.name !== "" && !isKnown(one));
  return { contradictorySubject, problems, learned, unpinned: noted };
}

/** Returns the trust with what a judgement adds. */
export function withJudgement(trust: Trust, { learned, unpinned }: NameJudgement): Trust {
  const noted = (trust.unpinned ?? []).filter(({ kind }) => !unpinned.some((one) => one.kind === kind));
  return {
    ...trust,
    pins: [...trust.pins, ...learned],
    ...(unpinned.length > 0 && { unpinned: [...noted, ...unpinned] }),
  };
}

/** Returns why a name is refused. A known id with a new name gets in: the workload was renamed or transferred. */
function reasonAgainst(pins: readonly PinnedName[], policy: NamePolicy, presented: NameWithId): NameReason | undefined {
  const ofKind = pins.filter(({ kind }) => kind === presented.kind);
  const ofName = ofKind.filter((pin) => isSameName(pin, presented));
  if (presented.id === "") {
    if (ofName.length > 0 || (presented.name === "" && ofKind.length > 0)) return "ID_MISSING";
    return policy === "explicit" ? "NAME_UNKNOWN" : undefined;
  }
  if (ofName.length > 0) return ofName.some(({ id }) => id === presented.id) ? undefined : "NAME_REUSED";
  return policy === "explicit" && !ofKind.some(({ id }) => id === presented.id) ? "NAME_UNKNOWN" : undefined;
}

function isPinned(pins: readonly PinnedName[], presented: NameWithId): boolean {
  return pins.some((pin) => isSameName(pin, presented) && pin.id === presented.id);
}

function noteOf({ kind, name, id }: NameWithId): UnpinnedName {
  return { kind, name, reason: id === "" ? "ID_MISSING" : "TOO_MANY" };
}

/** Whether pins fit into the limits of stored trust. Refused names may need the rest. */
function hasRoom({ pins }: Trust, added: readonly PinnedName[]): boolean {
  const { kind } = added.at(-1)!;
  const all = [...pins, ...added];
  return all.filter((pin) => pin.kind === kind).length <= maxPinnedNames && JSON.stringify(all).length <= maxPinsLength;
}
