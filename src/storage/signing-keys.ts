// Where the keys that sign API tokens are kept.
import { isNull, sql } from "drizzle-orm";
import type { Session, Transaction } from "./session.ts";

/** A stored signing key. */
export interface SigningKeyRow {
  readonly kid: string;
  readonly algorithm: string;
  readonly privateJwk: string;
  readonly createTime: number;
  readonly retireTime: number | null;
}

/** All signing keys, retired ones too. */
export async function listSigningKeys(session: Session): Promise<SigningKeyRow[]> {
  const statement = session.prepared("signing_keys.list", (db, { signingKeys }) => db.select().from(signingKeys));
  return await statement.execute();
}

/** Adds a key; the keys that sign now are retired at the given time. */
export async function addSigningKey(tx: Transaction, key: SigningKeyRow, retireOthersAt: number): Promise<void> {
  const retire = tx.prepared("signing_keys.retire", (db, { signingKeys }) =>
    db
      .update(signingKeys)
      .set({ retireTime: sql`${sql.placeholder("retireTime")}` })
      .where(isNull(signingKeys.retireTime)),
  );
  const insert = tx.prepared("signing_keys.insert", (db, { signingKeys }) =>
    db.insert(signingKeys).values({
      kid: sql.placeholder("kid"),
      algorithm: sql.placeholder("algorithm"),
      privateJwk: sql.placeholder("privateJwk"),
      createTime: sql.placeholder("createTime"),
      retireTime: sql.placeholder("retireTime"),
    }),
  );
  await retire.execute({ retireTime: retireOthersAt });
  await insert.execute({ ...key });
}
