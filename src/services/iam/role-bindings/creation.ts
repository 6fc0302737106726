// Creates role bindings, with a term or without one.
import type { RoleBinding } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { ApiError, alreadyExists } from "../../../aip/errors.ts";
import { noTerm, type Term } from "../../../model/grants.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { findRows } from "../../../storage/collection/rows.ts";
import { UniqueViolation } from "../../../storage/engine/errors.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import { findBinding } from "../../../storage/iam/role-bindings.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { adoptKeys } from "../delegations/makers.ts";
import { deleteEnded, hasEnded } from "../users/ended-bindings.ts";
import { type BindingMethods, roleBinding } from "./resource.ts";
import { requireIdentity, requireReferences } from "./role-binding-rules.ts";

/** The bindings to create. */
export interface NewBindings {
  readonly parent: string;
  readonly values: readonly RoleBinding[];
  /** The term of all of them; none if absent. */
  readonly term?: Term;
}

/** Returns the function that creates all bindings of a request, or none, and shows them in the same transaction. */
export function bindingCreator(
  { database, clock }: Pick<ServiceContext, "database" | "clock">,
  standard: BindingMethods,
) {
  return async <T>(
    { parent, values, term = noTerm }: NewBindings,
    call: Call,
    show: (tx: Transaction, rows: readonly RoleBindingRow[]) => Promise<T>,
  ): Promise<T> => {
    const create = () =>
      database.write(writeContext(call, clock), async (tx) => {
        const created: RoleBindingRow[] = [];
        for (const value of values) {
          await requireReferences(tx, value, parent, call, term);
          await requireIdentity(tx, value, parent, call);
          created.push(await standard.insert(tx, parent, value, term));
          await adoptKeys(tx, value.identityUid, call);
        }
        // The bindings keep what they refer to from being deleted before the transaction ends.
        return await show(tx, created);
      });
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error;
      const known = await findKnown(database.session, parent, values);
      if (!known) throw duplicate();
      const ended = known.filter((row) => hasEnded(database.session, row)).map(({ uid }) => uid);
      if (ended.length === 0 && known.length > 0) throw duplicate(known[0]);
      // Background work deletes them at the same time, or has just done so.
      await database.write(writeContext(call, clock), async (tx) => {
        const rows = await findRows(tx, roleBindingCollection, ended);
        await deleteEnded(
          tx,
          rows.filter((row) => hasEnded(tx, row)),
        );
      });
    }
    return await create().catch((error: unknown) => {
      throw error instanceof UniqueViolation ? duplicate() : error;
    });
  };
}

/** Returns the stored bindings among new ones. Within an apply on PostgreSQL, whose transaction has failed, undefined. */
async function findKnown(
  session: Session,
  parent: string,
  values: readonly RoleBinding[],
): Promise<RoleBindingRow[] | undefined> {
  try {
    const found: RoleBindingRow[] = [];
    for (const { roleUid, identityUid } of values) {
      const row = await findBinding(session, parent, roleUid, identityUid);
      if (row) found.push(row);
    }
    return found;
  } catch {
    return undefined;
  }
}

/** Returns the error for a binding that exists already. It names the end of one that has an end. */
export function duplicate(known?: Term): ApiError {
  const { code, message, details } = alreadyExists(roleBinding.type, "", "the identity has this role at this group");
  if (known?.expireTime == null) return new ApiError(code, message, { details });
  const end = new Date(known.expireTime).toISOString();
  return new ApiError(code, `${message} until ${end}; change its term`, { details, metadata: { expire_time: end } });
}
