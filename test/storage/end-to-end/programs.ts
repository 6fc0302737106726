// Ends a test without failure where its programs are not installed.
import { existsSync } from "node:fs";
import { debianPostgres } from "../../harness/debian-postgres.ts";

const packages = {
  postgres: { package: "postgresql", isInstalled: debianPostgres !== undefined },
  pgbouncer: { package: "pgbouncer", isInstalled: existsSync("/usr/sbin/pgbouncer") },
  openssl: { package: "openssl", isInstalled: existsSync("/usr/bin/openssl") },
} as const;

/** Ends the process with a line on stderr if one of the programs is missing. */
export function skipWithout(...programs: readonly (keyof typeof packages)[]): void {
  const missing = programs
    .filter((program) => !packages[program].isInstalled)
    .map((program) => packages[program].package);
  if (missing.length === 0) return;
  console.error(`suite database is skipped: it needs programs that are not here: apt-get install ${missing.join(" ")}`);
  process.exit(0);
}
