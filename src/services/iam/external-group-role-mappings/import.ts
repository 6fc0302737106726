import type { ExternalGroupRoleMappingSchema } from "../../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import { rootOf } from "../../../model/uid.ts";
import { lockRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { identityProviderCollection } from "../../../storage/iam/collections.ts";
import { maxMappings } from "../../../storage/iam/limits.ts";
import type { ExternalGroupRoleMappingRow } from "../../../storage/iam/provider-rows.ts";
import { findMappingsOf } from "../../../storage/iam/providers.ts";
import { checkKeepsOperators, checkRoleReference, inGroup, takenBy } from "../../kinds/import-checks.ts";
import { importKind, type Problem, type Transfer } from "../../kinds/import-kind.ts";
import { mapping } from "./external-group-role-mappings.ts";

/** The import of mappings of external groups. */
export const externalGroupRoleMappingImport: Transfer = {
  name: "externalGroupRoleMapping",
  declare: () =>
    importKind<typeof ExternalGroupRoleMappingSchema, ExternalGroupRoleMappingRow>({
      parents: identityProviderCollection,
      parentOf: inGroup.parentOf,
      resource: mapping,
      // Their number is limited.
      isIndependent: () => false,
      toRow: (message, { uid, parent, createTime }) => ({
        ...mapping.toRow(message),
        uid,
        parent: parent!,
        createTime,
      }),
      references: ({ roleUid, scope }) => [roleUid, scope],
      check: checkMapping,
      // A concurrent import of another mapping must see this one.
      prepare: async (tx, { parent }) => void (await lockRow(tx, identityProviderCollection, parent)),
    }),
};

async function checkMapping(
  session: Session,
  after: ExternalGroupRoleMappingRow,
  before: ExternalGroupRoleMappingRow | undefined,
): Promise<readonly Problem[]> {
  const { uid, parent, externalGroupId, roleUid, scope } = after;
  if (before) {
    const problems = await checkKeepsOperators(session, before.roleUid, "uid");
    if (problems.length > 0) return problems;
  }
  if (scope !== rootOf(parent))
    return [{ field: "scope", description: "must be the organization of the identity provider" }];
  const known = await findMappingsOf(session, parent, maxMappings);
  if (!before && known.length >= maxMappings)
    return [{ field: "uid", description: `is one of more than ${maxMappings} mappings of its identity provider` }];
  const same = known.find(
    (row) => row.externalGroupId === externalGroupId && row.roleUid === roleUid && row.scope === scope,
  );
  const taken = takenBy(same, uid, "external_group_id", "has this role by another mapping");
  return [...taken, ...(await checkRoleReference(session, roleUid, scope, "role_uid"))];
}
