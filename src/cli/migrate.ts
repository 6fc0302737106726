// `gatehouse db migrate`: applies migrations, or shows them.
import type { Config } from "../config/config.ts";
import { openConfiguredDatabase, pendingConfiguredMigrations } from "../server/open-database.ts";
import { commandDatabaseLimits } from "../storage/engine/dialect.ts";
import type { AppliedMigration, Migration } from "../storage/engine/migrations.ts";

/** The exit code of a plan with migrations. */
const pendingExitCode = 3;

/** Applies pending migrations, regardless of the setting `migrate`. With `plan`, prints their statements instead. */
export async function migrateCommand(config: Config, plan: boolean): Promise<number> {
  if (plan) return await printPlan(config);
  const applied: AppliedMigration[] = [];
  const database = await openConfiguredDatabase(
    { ...config, migrates: true },
    commandDatabaseLimits,
    "create",
    (migrations) => applied.push(...migrations),
  );
  await database.close();
  for (const { name, durationMs } of applied) console.log(`applied ${name} in ${durationMs} ms`);
  if (applied.length === 0) console.log(nothingPending);
  return 0;
}

const nothingPending = "no migration is pending";

/** Prints SQL: texts about a migration are comments. */
async function printPlan(config: Config): Promise<number> {
  const pending = await pendingConfiguredMigrations(config, commandDatabaseLimits);
  if (pending.length === 0) {
    console.log(`-- ${nothingPending}`);
    return 0;
  }
  for (const migration of pending) {
    console.log(`-- ${migration.name}: ${safetyOf(migration, pending)}`);
    for (const statement of migration.statements) console.log(`${statement.trim().replace(/;*$/, "")};`);
    console.log("");
  }
  return pendingExitCode;
}

/** Says whether servers of the version before may run on. They have all migrations that are not pending. */
function safetyOf({ compatibleSince }: Migration, pending: readonly Migration[]): string {
  if (compatibleSince === undefined) return "safe while servers of the version before run";
  if (!pending.some(({ name }) => name === compatibleSince))
    return `safe while servers of the version before run; removes what only versions without ${compatibleSince} use`;
  return `NOT safe while servers of the version before run: stop all servers without ${compatibleSince} first`;
}
