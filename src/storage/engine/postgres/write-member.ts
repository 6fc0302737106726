import type { DialectTransaction } from "../dialect.ts";

/** A write needs a transaction of its own, because it locks tables. */
export class NeedsOwnTransaction extends Error {}

/** One write of a batch. */
export interface WriteMember {
  /** The transaction of the batch, as this write uses it. */
  readonly tx: DialectTransaction;
  /** Whether it has sent a statement that may change rows. */
  hasWritten(): boolean;
  /** Rejects all further statements: the transaction may go on without this write, or end. */
  end(): void;
}

/** Creates a member of the batch that has this transaction. */
export function newMember(batch: DialectTransaction): WriteMember {
  let hasWritten = false;
  let isOver = false;
  return {
    tx: {
      ...batch,
      prepared(key, build) {
        if (isOver) throw new Error(`${key}: the write has ended`);
        const statement = batch.prepared(key, build);
        if (statement.isWrite) hasWritten = true;
        return statement;
      },
      lockTables: () => Promise.reject(new NeedsOwnTransaction()),
    },
    hasWritten: () => hasWritten,
    end() {
      isOver = true;
    },
  };
}
