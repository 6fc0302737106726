// Uids are paths: a root has 40 hexadecimal characters, each child adds "/" and 16 more.
import { systemClock } from "../base/clock.ts";
import { randomHex } from "../base/random.ts";

/** The pattern of a uid. */
export const uidPattern = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;

/** The pattern of the end of a uid: its last segments, without the root. */
export const uidEndPattern = /^[0-9a-f]{16}(?:\/[0-9a-f]{16})*$/;

/** The root of the platform: the parent of a uid without `/`. Not a uid itself. */
export const platformRoot = "/";

/** Reports whether a text is a uid. */
export function isUid(text: string): boolean {
  return uidPattern.test(text);
}

/** Returns a new uid without a parent: 160 random bits. */
export function newRoot(): string {
  return randomHex(20);
}

/**
 * Returns a new uid below `parent`, or a new root if it is empty. The segment starts with the time and has 44 random
 * bits, so resources created together are stored together (docs/decisions/0028).
 */
export function newChild(parent: string): string {
  return parent === "" ? newRoot() : `${parent}/${momentDigits(systemClock())}${randomHex(8).slice(5)}`;
}

/**
 * Returns a new uid below `parent` that sorts after another one there ("" for none), for lists in the order of uids.
 */
export function newChildBehind(parent: string, other: string): string {
  const child = newChild(parent);
  if (child > other) return child;
  // A random position among the next 2^32: almost certainly free, and near enough that thousands more fit behind it.
  const next = BigInt(`0x${other.slice(-16)}`) + BigInt(`0x${randomHex(4)}`) + 1n;
  return `${parent}/${BigInt.asUintN(64, next).toString(16).padStart(16, "0")}`;
}

/** Five digits that change every 16 ms and repeat after four hours and forty minutes. */
function momentDigits(now: number): string {
  const moment = Math.floor(now / 16) & 0xfffff;
  return moment.toString(16).padStart(5, "0");
}

/** Returns the uid of the parent; `/` for a root. */
export function parentOf(uid: string): string {
  const slash = uid.lastIndexOf("/");
  return slash < 0 ? platformRoot : uid.slice(0, slash);
}

/** Returns the root of a uid; itself for a root. */
export function rootOf(uid: string): string {
  const slash = uid.indexOf("/");
  return slash < 0 ? uid : uid.slice(0, slash);
}

/** Returns all ancestors, the root first. */
export function ancestorsOf(uid: string): string[] {
  const ancestors: string[] = [];
  for (let slash = uid.indexOf("/"); slash >= 0; slash = uid.indexOf("/", slash + 1)) {
    ancestors.push(uid.slice(0, slash));
  }
  return ancestors;
}

/** Reports whether `uid` is a descendant of `ancestor`. */
export function isBelow(uid: string, ancestor: string): boolean {
  return uid.length > ancestor.length && uid.startsWith(ancestor) && uid[ancestor.length] === "/";
}

/** Reports whether `uid` is `ancestor` or its descendant. */
export function isWithin(uid: string, ancestor: string): boolean {
  return uid === ancestor || isBelow(uid, ancestor);
}

/** Returns the half-open range of all descendants of `uid`; `0` follows `/` in byte order. */
export function rangeBelow(uid: string): { from: string; to: string } {
  return { from: `${uid}/`, to: `${uid}0` };
}

/** Returns the number of segments of a uid: 1 for a root. */
export function depthOf(uid: string): number {
  return 1 + (uid.length - 40) / 17;
}
