// Every secret that the database holds in a form that can be read back: sealed anew after a change of keys, and checked.
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

/** A column that holds secrets. Digests are none: nothing can be done with them. */
interface SecretColumn {
  readonly kind: string;
  /** Its name in tables.ts. */
  readonly column: string;
  readonly table: (tables: Tables) => { readonly rows: PgTable; readonly uid: PgColumn; readonly value: PgColumn };
  /** The rows that are meant; all of them when absent. */
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
];

/**
 * Seals anew what is not sealed with the key in use, and tells how many secrets that were. What cannot be opened stays as
 * it is, with a sentence about it.
 */
export async function reencryptColumns(
  database: Database,
  seals: Encryption,
  context: WriteContext,
): Promise<{ readonly resealed: number; readonly findings: readonly string[] }> {
  const findings: string[] = [];
  let resealed = 0;
  for await (const { secret, place, stored } of storedSecrets(database.session)) {
    if (seals.usesCurrentKey(stored)) continue;
    const opened = tryOpen(seals, place, stored);
    if (opened.problem !== undefined) findings.push(opened.problem);
    else {
      const sealed = seals.encrypt(place, opened.text);
      await database.write(context, (tx) => replace(tx, secret, { uid: place.uid, stored, sealed }));
      resealed++;
    }
  }
  return { resealed, findings };
}

/** One sentence for every secret that cannot be opened. */
export async function* undecryptableSecrets(session: Session, seals: Encryption): AsyncGenerator<string> {
  for await (const { place, stored } of storedSecrets(session)) {
    const { problem } = tryOpen(seals, place, stored);
    if (problem !== undefined) yield problem;
  }
}

function tryOpen(
  seals: Encryption,
  place: ColumnRef,
  stored: string,
): { text: string; problem?: undefined } | { problem: string } {
  try {
    return { text: seals.decrypt(place, stored) };
  } catch (error) {
    if (error instanceof DecryptionError) return { problem: error.message };
    throw error;
  }
}

async function* storedSecrets(session: Session) {
  for (const secret of secretColumns) {
    const { kind, column, uids } = secret;
    for await (const { uid, value } of valuesOf(session, secret)) {
      if (!uids || uids.has(uid)) yield { secret, place: { kind, uid, column }, stored: value };
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

/** Not a change of the resource: neither its update time nor the change log knows of it. */
async function replace(
  tx: Transaction,
  { kind, column, table }: SecretColumn,
  values: { uid: string; stored: string; sealed: string },
): Promise<void> {
  const statement = tx.prepared(`secrets.reseal.${kind}`, (db, tables) => {
    const { rows, uid, value } = table(tables);
    return db
      .update(rows)
      .set({ [column]: sql.placeholder("sealed") })
      .where(and(eq(uid, sql.placeholder("uid")), eq(value, sql.placeholder("stored"))));
  });
  await statement.execute(values);
}
