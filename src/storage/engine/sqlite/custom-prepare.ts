import type BetterSqlite from "better-sqlite3";

/** The connection, on which statements are prepared in another way. */
export function withPrepare(
  connection: BetterSqlite.Database,
  prepare: (sql: string) => BetterSqlite.Statement,
): BetterSqlite.Database {
  return new Proxy(connection, {
    get(target, name) {
      if (name === "prepare") return prepare;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
