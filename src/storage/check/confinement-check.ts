// Finds bindings that grant less than they say: those of subgroup identities at an ancestor or outside of the subgroup.
import { parentOf } from "../../model/uid.ts";
import { limitOf } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { scanTable } from "../engine/table-scan.ts";
import { effectiveGroup, isHeldAtRoot } from "../iam/grants.ts";
import { and, asc, gt, not, sql } from "../schema/drizzle.ts";

const pageSize = 1000;

/** A binding that does not take effect where it is. */
export interface ConfinedBinding {
  readonly uid: string;
  readonly identityUid: string;
  readonly roleUid: string;
  /** The group of the binding. */
  readonly groupUid: string;
  /** The subgroup of the identity. */
  readonly home: string;
  /** Whether the role takes effect in the subgroup; otherwise it has no effect. */
  readonly countsAtHome: boolean;
}

/** Yields all such bindings, ordered by uid. */
export async function* confinedBindings(session: Session): AsyncGenerator<ConfinedBinding> {
  const statement = session.prepared("role_bindings.check.confined", (db, { roleBindings }) =>
    db
      .select({
        uid: roleBindings.uid,
        identityUid: roleBindings.identityUid,
        roleUid: roleBindings.roleUid,
        groupUid: roleBindings.parent,
      })
      .from(roleBindings)
      .where(and(gt(roleBindings.uid, sql.placeholder("after")), not(isHeldAtRoot(roleBindings.identityUid))))
      .orderBy(asc(roleBindings.uid))
      .limit(limitOf(pageSize)),
  );
  const read = (after: string) => statement.execute({ after });
  for await (const page of scanTable(pageSize, "", read, ({ uid }) => uid)) {
    for (const binding of page) {
      const { identityUid, groupUid } = binding;
      const effective = effectiveGroup(identityUid, groupUid);
      if (effective === groupUid) continue;
      yield { ...binding, home: parentOf(identityUid), countsAtHome: effective !== undefined };
    }
  }
}
