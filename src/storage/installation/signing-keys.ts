// Stores the keys that sign access tokens.

import type { Database } from "../database.ts";
import { placeholders } from "../engine/placeholders.ts";
import type { Session, Transaction, WriteContext } from "../engine/session.ts";
import { eq, gt, isNull, or, sql } from "../schema/drizzle.ts";
import type { ColumnRef, Encryption } from "./encryption.ts";

/** A stored signing key. */
export interface SigningKeyRow {
  readonly kid: string;
  readonly algorithm: string;
  /** Encrypted, if there is a key to encrypt with. */
  readonly privateJwk: string;
  readonly createTime: number;
  readonly retireTime: number | null;
}

/** Returns all signing keys, including retired ones. */
export async function listSigningKeys(session: Session): Promise<SigningKeyRow[]> {
  const statement = session.prepared("signing_keys.list", (db, { signingKeys }) => db.select().from(signingKeys));
  return await statement.execute();
}

/** Returns the signing keys that are not retired at a time, in milliseconds since the epoch. */
export async function listUnretiredKeys(session: Session, now: number): Promise<SigningKeyRow[]> {
  const statement = session.prepared("signing_keys.unretired", (db, { signingKeys }) =>
    db
      .select()
      .from(signingKeys)
      .where(or(isNull(signingKeys.retireTime), gt(signingKeys.retireTime, sql.placeholder("now")))),
  );
  return await statement.execute({ now });
}

/** Adds keys. All others retire at the given time, unless they retire sooner or it is undefined. */
export async function addSigningKeys(
  tx: Transaction,
  keys: readonly SigningKeyRow[],
  retireOthersAt: number | undefined,
): Promise<void> {
  const retire = tx.prepared("signing_keys.retire", (db, { signingKeys }) =>
    db
      .update(signingKeys)
      .set({ retireTime: sql`${sql.placeholder("retireTime")}` })
      .where(or(isNull(signingKeys.retireTime), gt(signingKeys.retireTime, sql.placeholder("retireTime")))),
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
  if (retireOthersAt !== undefined) await retire.execute({ retireTime: retireOthersAt });
  for (const key of keys) await insert.execute({ ...key });
}

/** Returns a signing key, or undefined. */
export async function findSigningKey(session: Session, kid: string): Promise<SigningKeyRow | undefined> {
  const statement = session.prepared("signing_keys.get", (db, { signingKeys }) =>
    db
      .select()
      .from(signingKeys)
      .where(eq(signingKeys.kid, sql.placeholder("kid"))),
  );
  return (await statement.execute({ kid }))[0];
}

/** Makes a key retire at a time. */
export async function retireSigningKey(tx: Transaction, kid: string, retireTime: number): Promise<void> {
  const statement = tx.prepared("signing_keys.retire_one", (db, { signingKeys }) =>
    db
      .update(signingKeys)
      .set(placeholders(["retireTime"]))
      .where(eq(signingKeys.kid, sql.placeholder("kid"))),
  );
  await statement.execute({ kid, retireTime });
}

/** A decrypted signing key; `retireTime` is undefined while the key signs. */
interface KeyRecord<A extends string> extends Omit<SigningKeyRow, "algorithm" | "retireTime"> {
  readonly algorithm: A;
  readonly retireTime: number | undefined;
}

/**
 * Returns the key store of a database. Retired keys are left out, and not decrypted. `onRotate` runs in the transaction
 * that adds a key and retires others.
 */
export function keyStore<A extends string>(
  database: Database,
  encryption: Encryption,
  clock: () => number,
  onRotate: (tx: Transaction, key: SigningKeyRow, retireOthersAt: number) => Promise<void> = async () => {},
) {
  return {
    async list(): Promise<KeyRecord<A>[]> {
      // Called before every signature: retired keys, of which there may be many, are not even read.
      const rows = await listUnretiredKeys(database.session, clock());
      return rows.map((row) => ({
        ...row,
        privateJwk: encryption.decrypt(columnOf(row), row.privateJwk),
        algorithm: row.algorithm as A,
        retireTime: row.retireTime ?? undefined,
      }));
    },
    /** Adds keys. `context` says who does it; absent if the server does. */
    async add(
      records: readonly KeyRecord<A>[],
      retireOthersAt: number | undefined,
      context: WriteContext = { actor: "", method: "keys", requestId: "", time: clock() },
    ): Promise<void> {
      const rows = records.map((record) => {
        const privateJwk = encryption.encrypt(columnOf(record), record.privateJwk);
        return { ...record, privateJwk, retireTime: record.retireTime ?? null };
      });
      await database.write(context, async (tx) => {
        await addSigningKeys(tx, rows, retireOthersAt);
        if (retireOthersAt !== undefined) for (const row of rows) await onRotate(tx, row, retireOthersAt);
      });
    },
  };
}

function columnOf({ kid }: { readonly kid: string }): ColumnRef {
  return { kind: "signing_keys", uid: kid, column: "privateJwk" };
}
