import { type Gatherer, newGatherer } from "../../../base/gather.ts";
import type { DialectTransaction } from "../dialect.ts";
import type { Gather, Session } from "../session.ts";

/** How many items a shared statement has. */
const maxItems = 500;

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

/** Creates the function by which the concurrent writes of a batch share statements. */
export function newGather(batch: DialectTransaction): Gather {
  const gatherers = new Map<string, Gatherer<unknown, unknown>>();
  return <K, V>(name: string, items: readonly K[], run: (session: Session, items: readonly K[]) => Promise<V>) => {
    let gatherer = gatherers.get(name) as Gatherer<K, V> | undefined;
    if (!gatherer) {
      gatherer = newGatherer((all: ReadonlySet<K>) => run(batch, [...all]), { maxKeys: maxItems });
      gatherers.set(name, gatherer as Gatherer<unknown, unknown>);
    }
    return gatherer(items);
  };
}

/** Creates a member of the batch that has this transaction. Members that run at the same time have the same `gather`. */
export function newMember(batch: DialectTransaction, gather?: Gather): WriteMember {
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
      ...(gather && {
        gather(name, items, run, isWrite) {
          if (isWrite) hasWritten = true;
          return gather(name, items, run, isWrite);
        },
      }),
      lockTables: () => Promise.reject(new NeedsOwnTransaction()),
    },
    hasWritten: () => hasWritten,
    end() {
      isOver = true;
    },
  };
}
