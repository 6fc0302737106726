import { hasTerm, noTerm } from "../../../model/grants.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { noteBinding } from "../../../storage/iam/access-usage.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import { findBinding } from "../../../storage/iam/role-bindings.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { checkKeepsOperators, checkRoleReference, inGroup, takenBy } from "../../kinds/import-checks.ts";
import { importKind, missing, type Problem, type Transfer } from "../../kinds/import-kind.ts";
import { createPendingUser, deleteUnusedPendingUser } from "../users/pending-users.ts";
import { isUserUid } from "../users/user-uid.ts";
import { roleBinding } from "./resource.ts";
import { mayBeUser, requireKeptOwner } from "./role-binding-rules.ts";

/** The import of role bindings. */
export const roleBindingImport: Transfer = {
  name: "roleBinding",
  declare: () =>
    importKind<typeof roleBinding.schema, RoleBindingRow>({
      ...inGroup,
      resource: roleBinding,
      // The binding of a user may create a pending user.
      isIndependent: ({ identityUid }) => !isUserUid(identityUid),
      toRow: (message, { uid, parent, createTime }) => ({
        ...roleBinding.toRow(message),
        ...noTerm,
        uid,
        parent: parent!,
        createTime,
      }),
      references: ({ identityUid, roleUid }) => [identityUid, roleUid],
      check: checkBinding,
      prepare: prepareBinding,
      finish: (tx, { identityUid }) => deleteUnusedPendingUser(tx, identityUid),
    }),
};

async function checkBinding(
  session: Session,
  after: RoleBindingRow,
  before: RoleBindingRow | undefined,
): Promise<readonly Problem[]> {
  const { uid, parent, identityUid, roleUid } = after;
  const problems = [...(await checkRoleReference(session, roleUid, parent, "role_uid"))];
  if (before) problems.push(...(await checkKeepsOperators(session, before.roleUid, "uid")));
  if (before && hasTerm(before))
    problems.push({ field: "uid", description: "has a term, which the file does not have" });
  if (!(await findRow(session, identityCollection, identityUid)) && !(await mayBeUser(session, identityUid)))
    problems.push(missing("identity_uid", "an identity", identityUid));
  const same = await findBinding(session, parent, roleUid, identityUid);
  return [...problems, ...takenBy(same, uid, "identity_uid", "has this role at this group by another role binding")];
}

async function prepareBinding(
  tx: Transaction,
  after: RoleBindingRow,
  before: RoleBindingRow | undefined,
  call: Call,
): Promise<void> {
  if (before) await requireKeptOwner(tx, before, after, call);
  // A user who has not signed in here.
  if (!(await findRow(tx, identityCollection, after.identityUid))) await createPendingUser(tx, after.identityUid);
  await noteBinding(tx, after);
}
