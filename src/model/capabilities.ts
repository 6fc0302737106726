// The vocabulary of what a role can allow, read from the options of the Capability enum.
// A capability has a number (the enum), a bit (its place in a set) and a name; none follows from another.
import type { DescEnumValue } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import {
  bit,
  type Capability,
  CapabilitySchema,
  internal_only,
  name,
} from "../../gen/chainguard/capabilities/capabilities_pb.ts";

/** A set of capabilities: bit n of the vocabulary is bit n % 32 of word n / 32. */
export type CapabilitySet = Uint32Array;

/** One entry of the vocabulary. */
export interface CapabilityInfo {
  readonly number: number;
  readonly bit: number;
  readonly name: string;
  /** Whether only roles of the platform itself may hold it. */
  readonly internal: boolean;
}

const vocabulary: readonly CapabilityInfo[] = CapabilitySchema.values.flatMap(readInfo);

const byNumber = new Map(vocabulary.map((info) => [info.number, info]));
const byName = new Map(vocabulary.map((info) => [info.name, info]));
const words = 1 + (Math.max(...vocabulary.map((info) => info.bit)) >>> 5);

/** The shortest bit length that a token states. */
const minBits = 50;

/** Returns the entry with an enum number; undefined for UNKNOWN and for numbers that are no longer in use. */
export function findCapability(number: number): CapabilityInfo | undefined {
  return byNumber.get(number);
}

/** Whether a capability has this number. Stored roles may have numbers of capabilities that no longer exist. */
export function isCapability(number: number): number is Capability {
  return byNumber.has(number);
}

/** Returns the entry with a name such as `groups.list`. */
export function findCapabilityByName(text: string): CapabilityInfo | undefined {
  return byName.get(text);
}

/** Every capability there is. */
export function allCapabilities(): readonly CapabilityInfo[] {
  return vocabulary;
}

/** Returns the names of the capabilities with these enum numbers, in the order of the numbers; unknown ones are left out. */
export function namesOfNumbers(numbers: readonly number[]): string[] {
  return numbers.flatMap((number) => byNumber.get(number)?.name ?? []);
}

/** Returns the set of the capabilities with these enum numbers; unknown numbers are left out. */
export function capabilitySet(numbers: Iterable<number>): CapabilitySet {
  const set = new Uint32Array(words);
  for (const number of numbers) {
    const info = byNumber.get(number);
    if (info) set[info.bit >>> 5]! |= 1 << (info.bit & 31);
  }
  return set;
}

/** Whether the set holds the capability with this enum number. */
export function hasCapability(set: CapabilitySet, number: number): boolean {
  const info = byNumber.get(number);
  return info !== undefined && (set[info.bit >>> 5]! & (1 << (info.bit & 31))) !== 0;
}

/** Adds `more` to `set` in place. */
export function addCapabilities(set: CapabilitySet, more: CapabilitySet): void {
  for (let i = 0; i < words; i++) set[i]! |= more[i]!;
}

/** Returns the capabilities that are in both sets. */
export function intersectCapabilities(a: CapabilitySet, b: CapabilitySet): CapabilitySet {
  return a.map((word, i) => word & b[i]!);
}

/** Names of the capabilities in `wanted` that `held` lacks; empty when it holds them all. */
export function missingCapabilities(held: CapabilitySet, wanted: CapabilitySet): string[] {
  const isMissing = (at: number) => (wanted[at >>> 5]! & ~held[at >>> 5]! & (1 << (at & 31))) !== 0;
  return vocabulary.filter((info) => isMissing(info.bit)).map((info) => info.name);
}

/** Returns the names of the capabilities in a set, in the order of the vocabulary. */
export function capabilityNames(set: CapabilitySet): string[] {
  return missingCapabilities(new Uint32Array(words), set);
}

/**
 * Returns the text form of a set in a token: padded base64url of an 8-byte big-endian bit length and 64-bit big-endian words. The length
 * is 50 or the highest bit plus one, whichever is more.
 */
export function formatCapabilitySet(set: CapabilitySet): string {
  const length = Math.max(minBits, 1 + highestBit(set));
  const bytes = Buffer.alloc(8 + 8 * Math.ceil(length / 64));
  bytes.writeBigUInt64BE(BigInt(length), 0);
  for (let word = 0; 8 + 8 * word < bytes.length; word++) {
    bytes.writeUInt32BE(set[2 * word + 1] ?? 0, 8 + 8 * word);
    bytes.writeUInt32BE(set[2 * word] ?? 0, 12 + 8 * word);
  }
  const text = bytes.toString("base64url");
  return text + "=".repeat((4 - (text.length % 4)) % 4);
}

/** Reads the text form of a set; undefined when it is not one. Bits beyond the vocabulary are dropped. */
export function parseCapabilitySet(text: string): CapabilitySet | undefined {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length < 8 || bytes.length % 8 !== 0) return undefined;
  const set = new Uint32Array(words);
  for (let word = 0; 8 + 8 * word < bytes.length; word++) {
    if (2 * word + 1 < words) set[2 * word + 1] = bytes.readUInt32BE(8 + 8 * word);
    if (2 * word < words) set[2 * word] = bytes.readUInt32BE(12 + 8 * word);
  }
  return set;
}

function highestBit(set: CapabilitySet): number {
  for (let i = words - 1; i >= 0; i--) {
    if (set[i] !== 0) return 32 * i + 31 - Math.clz32(set[i]!);
  }
  return -1;
}

/** Returns the entry of a value, if it has a bit. Read from the wire format: `getOption` would take a tenth of a start. */
function readInfo({ number, proto }: DescEnumValue): CapabilityInfo[] {
  const found = { bit: -1, name: "", internal: false };
  for (const { no, data } of proto.options?.$unknown ?? []) {
    const reader = new BinaryReader(data);
    if (no === bit.number) found.bit = reader.uint32();
    else if (no === name.number) found.name = reader.string();
    else if (no === internal_only.number) found.internal = reader.bool();
  }
  return found.bit < 0 ? [] : [{ number, ...found }];
}
