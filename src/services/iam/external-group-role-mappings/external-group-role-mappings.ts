import {
  BatchDeleteExternalGroupRoleMappingsRequestSchema,
  type ExternalGroupRoleMapping,
  ExternalGroupRoleMappingSchema,
  ExternalGroupRoleMappingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import { IdentityProviderSchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import {
  alreadyExists,
  type FieldViolation,
  failedPrecondition,
  invalidArgument,
  notFound,
} from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { missingTexts, newViolations } from "../../../aip/violations.ts";
import { parentOf, rootOf } from "../../../model/uid.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type MessageRules, uidRule } from "../../../pipeline/text-rules.ts";
import { mapUniqueViolation } from "../../../resource/already-exists.ts";
import { defineResource, roleOrders } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { type ParentCollection, standardMethods } from "../../../resource/standard-methods.ts";
import { deleteRow, findRow, keepRow, lockRow } from "../../../storage/collection/rows.ts";
import { readCounter } from "../../../storage/engine/counters.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { externalGroupRoleMappingCollection, identityProviderCollection } from "../../../storage/iam/collections.ts";
import { maxMappings } from "../../../storage/iam/limits.ts";
import type { ExternalGroupRoleMappingRow } from "../../../storage/iam/provider-rows.ts";
import { checkVisible } from "../../../sts/claim-text.ts";
import { withMaker } from "../rules/escalation.ts";
import { requireUsableRole } from "../rules/usable-role.ts";

export const mapping = defineResource<typeof ExternalGroupRoleMappingSchema, ExternalGroupRoleMappingRow>({
  schema: ExternalGroupRoleMappingSchema,
  plural: "externalGroupRoleMappings",
  collection: externalGroupRoleMappingCollection,
  orderable: roleOrders,
  rules: {
    // PostgreSQL indexes it together with three uids, which leaves 2600 bytes.
    external_group_id: {
      test: (text) => text.length <= 512 && checkVisible(text) === undefined,
      description:
        "must be at most 512 characters without control characters or marks that change the direction of text",
    },
    scope: uidRule,
  },
  check: checkMapping,
  toMessage: mappingMessage,
  toRow: ({ externalGroupId, roleUid, scope }) => ({ externalGroupId, roleUid, scope }),
});

const batchRules: MessageRules = {
  schema: BatchDeleteExternalGroupRoleMappingsRequestSchema,
  fields: { names: uidRule },
};

/** Identity providers as the parents of mappings. */
const providerParents: ParentCollection = {
  type: resourceType(IdentityProviderSchema),
  keep: (tx, uid) => keepRow(tx, identityProviderCollection, uid),
  lock: (tx, uid) => lockRow(tx, identityProviderCollection, uid),
};

/** Serves the mappings of groups of an identity provider to roles. The roles last for a session and are not stored as bindings. */
export function externalGroupRoleMappings(context: ServiceContext): Implementation {
  const standard = standardMethods(mapping, providerParents, context);
  const { database, clock } = context;

  async function insert(tx: Transaction, parent: string, value: ExternalGroupRoleMapping, call: Call) {
    if (!(await providerParents.lock(tx, parent))) throw notFound(providerParents.type, parent);
    requireOwnOrganization(parent, value);
    await requireUsableRole(tx, value.roleUid, value.scope, call, withMaker);
    if ((await readCounter(tx, parent, externalGroupRoleMappingCollection.kind)) >= maxMappings)
      throw failedPrecondition(
        "TOO_MANY_MAPPINGS",
        `an identity provider may have at most ${maxMappings} mappings; delete some first`,
        parent,
      );
    return await standard.insert(tx, parent, value, {});
  }

  return implement(
    ExternalGroupRoleMappingsService,
    {
      getExternalGroupRoleMapping: standard.get,
      listExternalGroupRoleMappings: (request, call) =>
        standard.list(request, call, { parent: request.identityProviderUid }),
      async createExternalGroupRoleMapping({ parent, externalGroupRoleMapping: value }, call) {
        const row = await mapUniqueViolation(duplicate, () =>
          database.write(writeContext(call, clock), (tx) => insert(tx, parent, value!, call)),
        );
        return mappingMessage(row);
      },
      deleteExternalGroupRoleMapping: (request, call) => standard.delete(request, call),
      async batchDeleteExternalGroupRoleMappings({ parent, names }, call) {
        requireOneProvider(parent, names);
        const deleted = await database.write(writeContext(call, clock), (tx) => deleteAll(tx, parent, names));
        return { parent, externalGroupRoleMappings: deleted.map(mappingMessage) };
      },
    },
    [...mapping.messageRules, batchRules],
  );
}

function duplicate() {
  return alreadyExists(mapping.type, "", "the group of the identity provider has this role at this scope");
}

/** Checks that all fields are set, although the published field annotations call them optional. */
function checkMapping({ externalGroupId, roleUid, scope }: ExternalGroupRoleMapping): FieldViolation[] {
  return missingTexts({ external_group_id: externalGroupId, role_uid: roleUid, scope });
}

/** Throws unless the scope is the organization of the provider. Checked before any read of the scope. */
function requireOwnOrganization(parent: string, { scope }: ExternalGroupRoleMapping): void {
  if (scope === rootOf(parent)) return;
  throw invalidArgument([{ field: "scope", description: "must be the organization of the identity provider" }]);
}

/** AIP-235: throws unless all mappings have the parent that the caller was authorized for. */
function requireOneProvider(parent: string, names: readonly string[]): void {
  const violations = newViolations();
  names.forEach((name, index) => {
    if (parentOf(name) !== parent) violations.add(`names[${index}]`, "must be a mapping of the parent");
  });
  violations.throwIfAny();
}

/** Deletes the mappings that still exist, and returns them. */
async function deleteAll(tx: Transaction, parent: string, names: readonly string[]) {
  if (!(await findRow(tx, identityProviderCollection, parent))) throw notFound(providerParents.type, parent);
  const deleted: ExternalGroupRoleMappingRow[] = [];
  for (const uid of new Set(names)) {
    const row = await findRow(tx, externalGroupRoleMappingCollection, uid);
    if (!row) continue;
    await deleteRow(tx, externalGroupRoleMappingCollection, row);
    deleted.push(row);
  }
  return deleted;
}

/** Converts a stored mapping to its message. */
export function mappingMessage(row: ExternalGroupRoleMappingRow) {
  const { uid, parent: identityProviderUid, externalGroupId, roleUid, scope } = row;
  return { uid, identityProviderUid, externalGroupId, roleUid, scope, createTime: toTimestamp(row.createTime) };
}
