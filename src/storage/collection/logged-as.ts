import type { Transaction, WriteContext } from "../engine/session.ts";

/**
 * Returns a view of a transaction whose changes are logged under another method, such as the role binding of an approval: under the
 * method that creates role bindings. `author` is that of the transaction if absent.
 */
export function loggedAs(
  tx: Transaction,
  method: string,
  { actor, actorClaims, requestId }: Pick<WriteContext, "actor" | "actorClaims" | "requestId"> = tx.context,
): Transaction {
  const by = { actor, actorClaims, method, requestId };
  // A change that depends on this one may be logged under a method of its own.
  return { ...tx, logChange: (entry) => tx.logChange({ ...entry, by: entry.by ?? by }) };
}

/** The author of what ends by itself. */
export const nobody = { actor: "", requestId: "" } as const;
