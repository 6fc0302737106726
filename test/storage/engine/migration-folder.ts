// Folders of migrations that later versions of the program might have.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Adds a column, which earlier versions neither read nor write. */
export const expand = ["0001_expand", "ALTER TABLE settings ADD COLUMN note text;"] as const;

/** Removes the column again, which only versions with `0001_expand` know to be unused. */
export const contract = [
  "0002_contract",
  `INSERT INTO settings (name, value) VALUES ('compatible_since', '0001_expand')
ON CONFLICT (name) DO UPDATE SET value = excluded.value;
--> statement-breakpoint
ALTER TABLE settings DROP COLUMN note;`,
] as const;

/** A copy of the migrations for a database, with more of them; disposing of it removes it. */
export interface MigrationFolder extends Disposable {
  readonly path: string;
  add(...migrations: readonly (readonly [name: string, statements: string])[]): void;
}

/** Copies the migrations of the program. */
export function copyMigrations(dialect: "sqlite" | "postgres"): MigrationFolder {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-migrations-"));
  cpSync(fileURLToPath(new URL(`../../../src/storage/schema/migrations/${dialect}`, import.meta.url)), folder, {
    recursive: true,
  });
  return {
    path: folder,
    add: (...migrations) => addMigrations(folder, migrations),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

/** Adds migrations to a folder, as drizzle-kit does. */
export function addMigrations(
  folder: string,
  migrations: readonly (readonly [name: string, statements: string])[],
): void {
  const file = path.join(folder, "meta", "_journal.json");
  const journal = JSON.parse(readFileSync(file, "utf8")) as { entries: { idx: number; when: number; tag: string }[] };
  for (const [tag, statements] of migrations) {
    const latest = journal.entries.at(-1)!;
    journal.entries.push({ ...latest, idx: latest.idx + 1, when: latest.when + 1000, tag });
    writeFileSync(path.join(folder, `${tag}.sql`), statements);
  }
  writeFileSync(file, JSON.stringify(journal));
}
