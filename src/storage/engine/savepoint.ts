// Parts of a transaction that are undone by themselves.

/** Returns the function that runs a part of a transaction within a savepoint. `execute` runs a statement of the transaction. */
export function partRunner(execute: (statement: string) => unknown) {
  async function undo(): Promise<void> {
    await execute("ROLLBACK TO SAVEPOINT part");
    await execute("RELEASE SAVEPOINT part");
  }

  return async <T>(body: () => Promise<T>): Promise<T> => {
    await execute("SAVEPOINT part");
    let result: T;
    try {
      result = await body();
    } catch (error) {
      // The transaction may have ended, as after a lost connection: the error of the part says why.
      await undo().catch(() => {});
      throw error;
    }
    await execute("RELEASE SAVEPOINT part");
    return result;
  };
}
