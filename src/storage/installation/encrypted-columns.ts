// All encrypted columns: re-encrypts them after a change of keys, and checks that they decrypt.
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Database } from "../database.ts";
import { limitOf } from "../engine/placeholders.ts";
import type { Session, Transaction, WriteContext } from "../engine/session.ts";
import { scanTable } from "../engine/table-scan.ts";
import { and, asc, eq, gt, isNotNull, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { type ColumnRef, DecryptionError, type Encryption } from "./encryption.ts";
import { secretSettings } from "./secret-settings.ts";

const pageSize = 500;

/** A column with secrets. Digests are not secret: they are of no use to a reader. */
interface SecretColumn {
  readonly kind: string;
  /** Its name in tables.ts. */
  readonly column: string;
  readonly table: (tables: Tables) => { readonly rows: PgTable; readonly uid: PgColumn; readonly value: PgColumn };
  /** The rows to encrypt; all if absent. */
  readonly uids?: ReadonlySet<string>;
}

const secretColumns: readonly SecretColumn[] = [
  {
    kind: "settings",
    column: "value",
    table: ({ settings }) => ({ rows: settings, uid: settings.name, value: settings.value }),
    uids: new Set(secretSettings),
  },
  {
    kind: "signing_keys",
    column: "privateJwk",
    table: ({ signingKeys }) => ({ rows: signingKeys, uid: signingKeys.kid, value: signingKeys.privateJwk }),
  },
  {
    kind: "identity_providers",
    column: "clientSecret",
    table: ({ identityProviders: rows }) => ({ rows, uid: rows.uid, value: rows.clientSecret }),
  },
  {
    kind: "delivery_attempts",
    column: "payload",
    table: ({ deliveryAttempts: rows }) => ({ rows, uid: rows.uid, value: rows.payload }),
  },
];

/**
 * Re-encrypts secrets that are not encrypted with the current key. Returns how many were, and a sentence for each
 * secret that does not decrypt and stays as it is.
 */
export async function reencryptColumns(
  database: Database,
  encryption: Encryption,
  context: WriteContext,
): Promise<{ readonly reencrypted: number; readonly findings: readonly string[] }> {
  const findings: string[] = [];
  let reencrypted = 0;
  for await (const { secret, ref, stored } of storedSecrets(database.session)) {
    if (encryption.usesCurrentKey(stored)) continue;
    const decrypted = tryDecrypt(encryption, ref, stored);
    if (decrypted.problem !== undefined) findings.push(decrypted.problem);
    else {
      const encrypted = encryption.encrypt(ref, decrypted.text);
      await database.write(context, (tx) => replace(tx, secret, { uid: ref.uid, stored, encrypted }));
      reencrypted++;
    }
  }
  return { reencrypted, findings };
}

/** Yields a sentence for each secret that does not decrypt. */
export async function* undecryptableSecrets(session: Session, encryption: Encryption): AsyncGenerator<string> {
  for await (const { ref, stored } of storedSecrets(session)) {
    const { problem } = tryDecrypt(encryption, ref, stored);
    if (problem !== undefined) yield problem;
  }
}

function tryDecrypt(
  encryption: Encryption,
  ref: ColumnRef,
  stored: string,
): { text: string; problem?: undefined } | { problem: string } {
  try {
    return { text: encryption.decrypt(ref, stored) };
  } catch (error) {
    if (error instanceof DecryptionError) return { problem: error.message };
    throw error;
  }
}

async function* storedSecrets(session: Session) {
  for (const secret of secretColumns) {
    const { kind, column, uids } = secret;
    for await (const { uid, value } of valuesOf(session, secret)) {
      if (!uids || uids.has(uid)) yield { secret, ref: { kind, uid, column }, stored: value };
    }
  }
}

async function* valuesOf(session: Session, { kind, table }: SecretColumn) {
  const statement = session.prepared(`secrets.list.${kind}`, (db, tables) => {
    const { rows, uid, value } = table(tables);
    return db
      .select({ uid, value })
      .from(rows)
      .where(and(isNotNull(value), gt(uid, sql.placeholder("after"))))
      .orderBy(asc(uid))
      .limit(limitOf(pageSize));
  });
  const read = (after: string) => statement.execute({ after }) as MaybePromise<{ uid: string; value: string }[]>;
  for await (const page of scanTable(pageSize, "", read, ({ uid }) => uid)) yield* page;
}

/** This does not count as a change of the resource: update time and change log stay. */
async function replace(
  tx: Transaction,
  { kind, column, table }: SecretColumn,
  values: { uid: string; stored: string; encrypted: string },
): Promise<void> {
  const statement = tx.prepared(`secrets.reencrypt.${kind}`, (db, tables) => {
    const { rows, uid, value } = table(tables);
    return db
      .update(rows)
      .set({ [column]: sql.placeholder("encrypted") })
      .where(and(eq(uid, sql.placeholder("uid")), eq(value, sql.placeholder("stored"))));
  });
  await statement.execute(values);
}
