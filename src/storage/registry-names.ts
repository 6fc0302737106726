// Finding repos by the names on the path of a repository.
import { and, eq, sql } from "./drizzle.ts";
import type { Session } from "./session.ts";

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
