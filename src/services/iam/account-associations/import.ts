import { create } from "@bufbuild/protobuf";
import {
  type AccountAssociation,
  AccountAssociationSchema,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { platformRoot } from "../../../model/uid.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import type { AccountAssociationRow } from "../../../storage/iam/rows.ts";
import { inGroup } from "../../kinds/import-checks.ts";
import { importKind, missing, type Problem, problemsIn, type Transfer } from "../../kinds/import-kind.ts";
import { accountAssociation, associationMessage } from "./account-associations.ts";
import { requireServiceIdentities } from "./service-bindings.ts";

/** The import of account associations. */
export const accountAssociationImport: Transfer = {
  name: "accountAssociation",
  declare: () =>
    importKind<typeof AccountAssociationSchema, AccountAssociationRow>({
      ...inGroup,
      parentOf: (uid) => uid,
      resource: accountAssociation,
      isOfGroup: true,
      isIndependent: () => true,
      toRow: (message, own) => ({ ...accountAssociation.toRow(message), ...own }),
      references: (message) => serviceIdentities(message),
      check: checkServices,
    }),
};

async function checkServices(
  session: Session,
  after: AccountAssociationRow,
  before: AccountAssociationRow | undefined,
): Promise<readonly Problem[]> {
  const messageOf = (row: AccountAssociationRow) => create(AccountAssociationSchema, associationMessage(row));
  const value = messageOf(after);
  for (const uid of serviceIdentities(value)) {
    if (!(await findRow(session, identityCollection, uid)))
      return [missing("chainguard.service_bindings", "an identity", uid)];
  }
  try {
    await requireServiceIdentities(session, value, after.uid, before && messageOf(before));
    return [];
  } catch (error) {
    return problemsIn(error);
  }
}

function serviceIdentities({ chainguard }: AccountAssociation): string[] {
  return Object.values(chainguard?.serviceBindings ?? {}).filter((uid) => uid !== platformRoot);
}
