import type BetterSqlite from "better-sqlite3";

/** Returns a proxy of the connection that prepares statements with `prepare`. */
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
