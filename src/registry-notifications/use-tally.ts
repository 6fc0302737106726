// Counts uses of images until they are stored: a notification never waits for the database.
import type { CountedUse } from "../storage/registry/image-uses.ts";
import type { RegistryKind } from "../storage/registry/use-coverage.ts";

/** Uses of one image, as a registry names it, in one hour. */
export interface NamedUse extends Omit<CountedUse, "repoUid"> {
  readonly registry: RegistryKind;
  readonly repository: string;
}

/** The uses that one process has yet to store. */
export class UseTally {
  readonly #maxUses: number;
  readonly #waiting = new Map<string, NamedUse>();
  #hasLost = false;

  /** Beyond `maxUses` different uses, the process counts no others until it has stored some. */
  constructor(maxUses: number) {
    this.#maxUses = maxUses;
  }

  /** Counts uses. */
  add(use: NamedUse): void {
    const { registry, repository, digest, tag, hour, actor, kind } = use;
    const key = JSON.stringify([registry, repository, digest, tag, hour, actor, kind]);
    const known = this.#waiting.get(key);
    if (known) this.#waiting.set(key, { ...known, count: known.count + use.count });
    else if (this.#waiting.size < this.#maxUses) this.#waiting.set(key, use);
    else this.#hasLost = true;
  }

  /** Removes and returns the uses. */
  take(): NamedUse[] {
    const taken = [...this.#waiting.values()];
    this.#waiting.clear();
    return taken;
  }

  /** Adds uses that could not be stored. */
  putBack(uses: readonly NamedUse[]): void {
    for (const use of uses) this.add(use);
  }

  /** Returns whether uses were left out since the last call. */
  takeLost(): boolean {
    const hasLost = this.#hasLost;
    this.#hasLost = false;
    return hasLost;
  }
}
