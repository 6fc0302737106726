// Finding groups and repos by the names on the path of a repository.
import { and, eq, sql } from "./drizzle.ts";
import type { Session } from "./session.ts";

/** The groups of a name directly below a group, at most `limit`. */
export async function findChildGroups(session: Session, parent: string, name: string, limit: number) {
  const statement = session.prepared("groups.children_by_name", (db, { groups }) =>
    db
      .select({ uid: groups.uid })
      .from(groups)
      .where(and(eq(groups.parent, sql.placeholder("parent")), eq(groups.name, sql.placeholder("name"))))
      .limit(sql.placeholder("limit")),
  );
  return await statement.execute({ parent, name, limit });
}

/** The repo of a name in a group; undefined when there is none. */
export async function findRepoByName(session: Session, groupUid: string, name: string) {
  const statement = session.prepared("repos.by_name", (db, { repos }) =>
    db
      .select()
      .from(repos)
      .where(and(eq(repos.parent, sql.placeholder("groupUid")), eq(repos.name, sql.placeholder("name")))),
  );
  return (await statement.execute({ groupUid, name }))[0];
}
