// The turns of the processes that write to one file: one process lends its own to the others, between its commits.

/** Ends a turn. */
export type EndTurn = () => void;

/** Waits for a turn. Resolves with undefined if there is nobody to lend one: the lock of the file then decides. */
export type TakeTurn = () => Promise<EndTurn | undefined>;

/** The turns of one process. */
export class WriteTurns {
  readonly #waiting: ((end: EndTurn) => void)[] = [];
  readonly #onRequest: () => void;
  /** Replaced in a process that borrows its turns. */
  take: TakeTurn = async () => undefined;

  constructor(onRequest: () => void) {
    this.#onRequest = onRequest;
  }

  /** Whether another process waits for a turn. */
  get areWanted(): boolean {
    return this.#waiting.length > 0;
  }

  /** Waits for a turn of this process. Call the returned function when it is over. */
  lend(): Promise<EndTurn> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#onRequest();
    });
  }

  /** Lends a turn to the next that waits, and waits for its end. */
  async lendNext(): Promise<void> {
    const grant = this.#waiting.shift();
    if (!grant) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    grant(resolve);
    await promise;
  }
}
