// Finds steps of a migration that break programs of the previous version (CONTRIBUTING, "To change the schema").
import type { Migration } from "../../../src/storage/engine/migrations.ts";

/** Statements of a contract step, wherever they stand. */
const contractSteps: readonly [what: string, pattern: RegExp][] = [
  ["DROP of anything but an index", /\bDROP (?!INDEX|DEFAULT)\w+/i],
  ["RENAME", /\bRENAME\b/i],
  ["another type of a column", /\bALTER COLUMN \S+ (SET DATA )?TYPE\b/i],
  ["SET NOT NULL", /\bSET NOT NULL\b/i],
  ["DROP DEFAULT", /\bDROP DEFAULT\b/i],
  [
    "a column that is NOT NULL without a default",
    /\bADD (COLUMN )?[^;]*\bNOT NULL\b(?![^;]*\bDEFAULT\b)(?<!DEFAULT[^;]*)/i,
  ],
];

/** Rules for the rows of a table, which are not a contract step on a table that the same migration creates. */
const rules = [
  /\bALTER TABLE (?<table>\S+) ADD CONSTRAINT\b/gi,
  /\bCREATE UNIQUE INDEX (?:IF NOT EXISTS )?\S+ ON (?<table>[^\s(]+)/gi,
];

/** Returns what makes a migration a contract step; empty for an expand step. */
export function contractStepsOf({ statements }: Pick<Migration, "statements">): string[] {
  const text = statements
    .join(";\n")
    .replace(/--.*$/gm, "")
    .replace(/\$\$[\s\S]*?\$\$/g, "");
  const found = contractSteps.filter(([, pattern]) => pattern.test(text)).map(([what]) => what);
  const created = new Set(tablesOf(text, /\bCREATE TABLE (?:IF NOT EXISTS )?(?<table>[^\s(]+)/gi));
  const ruled = rules.flatMap((pattern) => tablesOf(text, pattern)).filter((table) => !created.has(table));
  return [...found, ...ruled.map((table) => `a new rule for the rows of ${table}`)];
}

function tablesOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(({ groups }) => groups!.table!.replace(/["`]/g, "").replace(/^public\./, ""));
}

/** Returns the problems of a folder of migrations, the first of which must be the initial one. */
export function problemsOf(migrations: readonly Migration[]): string[] {
  let floor = 0;
  return migrations.slice(1).flatMap((migration, i) => {
    const steps = contractStepsOf(migration);
    if (migration.compatibleSince === undefined)
      return steps.map((what) => `${migration.name}: ${what}, without compatible_since`);
    const since = migrations.slice(0, i + 1).findIndex(({ name }) => name === migration.compatibleSince);
    if (since < 0) return [`${migration.name}: compatible_since must name a migration before it`];
    if (since < floor)
      return [`${migration.name}: compatible_since must not be earlier than that of a migration before it`];
    floor = since;
    return [];
  });
}
