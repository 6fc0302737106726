// The tables as they are copied between databases: names of tables and columns, which are the same in both.
import { once } from "../../base/lazy.ts";
import { loadCasing, loadPostgresCore } from "./drizzle.ts";
import { postgresTables } from "./tables.postgres.ts";

/** A table, with the names that it has in the database. */
export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns of the primary key. */
  readonly key: readonly string[];
  /** The column that the database numbers; undefined if there is none. */
  readonly sequence: string | undefined;
}

/** All tables but that of the servers: those of the source do not run on the copy. */
export const copiedTables = once((): readonly CopiedTable[] => {
  const { getTableConfig } = loadPostgresCore();
  const { toSnakeCase } = loadCasing();
  const { nodes: _nodes, ...copied } = postgresTables;
  return Object.values(copied).map((table) => {
    const { name, columns, primaryKeys } = getTableConfig(table);
    const keyColumns = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
    const sequence = columns.find(({ generatedIdentity }) => generatedIdentity !== undefined);
    return {
      name,
      columns: columns.map((column) => toSnakeCase(column.name)),
      key: keyColumns.map((column) => toSnakeCase(column.name)),
      sequence: sequence && toSnakeCase(sequence.name),
    };
  });
});

/** Returns the names, quoted for both databases. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}
