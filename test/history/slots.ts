// The state that clients share: resources to read and change, and identities to give access.
import type { Person } from "./installation.ts";

/** The kinds of resources that the clients create, read, update and delete. */
export const kinds = ["groups", "repos"] as const;
export type Kind = (typeof kinds)[number];

/** A resource of known uid. */
export interface Made {
  readonly uid: string;
  /** The id of the create that made it. */
  readonly maker: string;
}

/**
 * A place for one resource at a time, below one folder. A repo keeps its name when it is created again, since names of
 * repos are unique; a group gets a new key each time.
 */
export interface Slot {
  readonly kind: Kind;
  readonly folder: string;
  readonly name: string;
  /** Counts the keys of this slot. */
  generation: number;
  /** The latest resource of the slot, also after its deletion. */
  made: Made | undefined;
  /** A child of the group. */
  child: Made | undefined;
  isDeleted: boolean;
  isBeingCreated: boolean;
  /** The writes on the current key whose result is unknown. */
  unknownWrites: number;
}

/** A place for one identity at a time, which gets access to a folder and loses it. */
export interface AccessSlot {
  readonly folder: string;
  index: number;
  person: Person;
  binding: Made | undefined;
}

/** The numbers of slots of each kind in a folder, and of identities in use. */
const slotsPerFolder = 6;
const accessSlots = 8;

/** How many writes of unknown result a key has before its slot gets another one. They make the search expensive. */
const maxUnknownWrites = 4;

/** A resource that no slot has: its create was reported as failed, or its slot has gone on to another key. */
export interface Stray extends Made {
  readonly kind: Kind;
  readonly key: string;
}

/** All slots. */
export class Slots {
  readonly resources: readonly Slot[];
  /** By uid. Clients delete them, because lists would grow. */
  readonly #strays = new Map<string, Stray>();
  /** Groups with children. */
  readonly #left = new Set<string>();
  readonly access: readonly AccessSlot[];
  readonly #people: readonly Person[];
  #used = 0;

  constructor(folders: readonly string[], people: readonly Person[]) {
    this.#people = people;
    // The clients prefer the first ones, which are of every folder and kind.
    this.resources = Array.from({ length: slotsPerFolder }).flatMap((_, index) =>
      folders.flatMap((folder, number) =>
        kinds.map((kind) => ({
          kind,
          folder,
          name: `${kind[0]}${number}-${index}`,
          generation: 0,
          made: undefined,
          child: undefined,
          isDeleted: false,
          isBeingCreated: false,
          unknownWrites: 0,
        })),
      ),
    );
    this.access = Array.from({ length: accessSlots }, (_, index) => {
      const slot = { folder: folders[index % folders.length]!, index: 0, person: people[0]!, binding: undefined };
      this.nextPerson(slot);
      return slot;
    });
  }

  /** Notes a resource that a list shows: a slot without one takes it. */
  see(kind: Kind, key: string, made: Made): void {
    const slot = this.resources.find(({ name }) => key.startsWith(`${name}-`));
    if (this.#left.has(made.uid)) return;
    if (!slot || key !== keyOf(slot)) this.#strays.set(made.uid, { ...made, kind, key });
    else if (kind === "repos" && slot.made?.maker !== made.maker) Object.assign(slot, { made, isDeleted: false });
  }

  /** Returns a resource that no slot has, for a client to delete. */
  takeStray(): Stray | undefined {
    const [stray] = this.#strays.values();
    if (stray) this.#strays.delete(stray.uid);
    return stray;
  }

  /** Notes a group that has children, so it cannot be deleted if no slot has it. */
  leave(uid: string): void {
    if (!this.resources.some(({ made }) => made?.uid === uid)) this.#left.add(uid);
  }

  /** Gives the slot an identity that was never used. Returns false if there is none left. */
  nextPerson(slot: AccessSlot): boolean {
    const person = this.#people[this.#used];
    if (!person) return false;
    Object.assign(slot, { index: this.#used++, person, binding: undefined });
    return true;
  }
}

/** Returns the key of the slot at present. */
export const keyOf = ({ name, generation }: Slot): string => `${name}-${generation}`;

/** Begins another key in the slot. */
export function renew(slot: Slot): void {
  const { generation } = slot;
  Object.assign(slot, {
    generation: generation + 1,
    made: undefined,
    child: undefined,
    isDeleted: false,
    unknownWrites: 0,
  });
}

/** Notes a write of unknown result. */
export function noteUnknown(slot: Slot): void {
  slot.unknownWrites++;
  if (slot.unknownWrites >= maxUnknownWrites) renew(slot);
}
