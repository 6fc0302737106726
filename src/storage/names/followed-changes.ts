// Reads the changes of the change log that can change the words of names.
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { roleBindingCollection } from "../iam/collections.ts";
import { membershipKind } from "../iam/memberships.ts";
import { and, asc, eq, gt, lte, or } from "../schema/drizzle.ts";
import { type NamedColumns, wordSources } from "./word-sources.ts";

/** A change of a row with a name, of a membership, or of a role binding that the installation itself made. */
export interface FollowedChange {
  readonly sequence: number;
  readonly kind: string;
  readonly uid: string;
  readonly before: ChangedColumns | null;
  readonly after: ChangedColumns | null;
}

type ChangedColumns = NamedColumns & { readonly identityUid?: string };

const followedKinds = JSON.stringify([membershipKind, ...wordSources.map(({ collection }) => collection.kind)]);

/** Returns the changes behind `after`, up to `until`, oldest first, `limit` at most. */
export async function readFollowedChanges(
  session: Session,
  after: number,
  until: number,
  limit: number,
): Promise<FollowedChange[]> {
  const statement = session.prepared("changes.of_names", (db, { changes }) =>
    db
      .select({
        sequence: changes.sequence,
        kind: changes.kind,
        uid: changes.uid,
        before: changes.before,
        after: changes.after,
      })
      .from(changes)
      .where(
        and(
          gt(changes.sequence, numberPlaceholder("after")),
          lte(changes.sequence, numberPlaceholder("until")),
          or(
            session.isAmong(changes.kind, textPlaceholder("kinds")),
            and(eq(changes.kind, textPlaceholder("bindings")), eq(changes.actor, textPlaceholder("installation"))),
          ),
        ),
      )
      .orderBy(asc(changes.sequence))
      .limit(limitOf("limit")),
  );
  const bindings = roleBindingCollection.kind;
  const rows = await statement.execute({ after, until, kinds: followedKinds, bindings, installation: "", limit });
  return rows as FollowedChange[];
}
