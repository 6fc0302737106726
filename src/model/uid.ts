// Uids are paths: a root is 40 hexadecimal characters, every child adds "/" and 16 more.
import { systemClock } from "../base/clock.ts";
import { randomHex } from "../base/random.ts";

/** What every uid matches. */
export const uidPattern = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;

/** What the end of a uid matches: its last segments, without the root. */
export const uidEndPattern = /^[0-9a-f]{16}(?:\/[0-9a-f]{16})*$/;

/** The root of the platform: the parent of a uid without `/`. It is not a uid itself. */
export const platformRoot = "/";

/** Whether the text is a uid. */
export function isUid(text: string): boolean {
  return uidPattern.test(text);
}

/** A new uid without a parent: 160 random bits. */
export function newRoot(): string {
  return randomHex(20);
}

/**
 * A new uid below `parent`: a segment that begins with the moment, and has 44 random bits; with an empty parent a new root.
 * What is made together so lies together, and is written together (docs/decisions/0028).
 */
export function newChild(parent: string): string {
  return parent === "" ? newRoot() : `${parent}/${momentDigits(systemClock())}${randomHex(8).slice(5)}`;
}

/** A new uid below `parent` that sorts behind another one there, for what is told in the order of uids; "" for none. */
export function newChildBehind(parent: string, other: string): string {
  const child = newChild(parent);
  if (child > other) return child;
  // Somewhere among the next 2^32: as good as free, and so near that thousands more find room behind it.
  const next = BigInt(`0x${other.slice(-16)}`) + BigInt(`0x${randomHex(4)}`) + 1n;
  return `${parent}/${BigInt.asUintN(64, next).toString(16).padStart(16, "0")}`;
}

/** Five digits for each 16 ms, which begin anew after four hours and forty minutes. */
function momentDigits(now: number): string {
  const moment = Math.floor(now / 16) & 0xfffff;
  return moment.toString(16).padStart(5, "0");
}

/** The uid above; `/` for a root. */
export function parentOf(uid: string): string {
  const slash = uid.lastIndexOf("/");
  return slash < 0 ? platformRoot : uid.slice(0, slash);
}

/** The root that a uid hangs below; itself when it is one. */
export function rootOf(uid: string): string {
  const slash = uid.indexOf("/");
  return slash < 0 ? uid : uid.slice(0, slash);
}

/** All uids strictly above, the root first. */
export function ancestorsOf(uid: string): string[] {
  const ancestors: string[] = [];
  for (let slash = uid.indexOf("/"); slash >= 0; slash = uid.indexOf("/", slash + 1)) {
    ancestors.push(uid.slice(0, slash));
  }
  return ancestors;
}

/** Whether `uid` lies strictly below `ancestor`. */
export function isBelow(uid: string, ancestor: string): boolean {
  return uid.length > ancestor.length && uid.startsWith(ancestor) && uid[ancestor.length] === "/";
}

/** Whether `uid` is `ancestor` or lies below it. */
export function isWithin(uid: string, ancestor: string): boolean {
  return uid === ancestor || isBelow(uid, ancestor);
}

/** The half-open range of all uids strictly below `uid`; `0` follows `/` in byte order. */
export function rangeBelow(uid: string): { from: string; to: string } {
  return { from: `${uid}/`, to: `${uid}0` };
}

/** How many segments a uid has: 1 for a root. */
export function depthOf(uid: string): number {
  return 1 + (uid.length - 40) / 17;
}
