import { isDeepStrictEqual } from "node:util";
import { create, fromJson, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import {
  IdentitiesService,
  type Identity,
  type IdentityMetadata,
  IdentityMetadataSchema,
  IdentitySchema,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { invalidArgument, permissionDenied } from "../../../aip/errors.ts";
import { applyMask } from "../../../aip/field-mask.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { noTrust } from "../../../model/trust.ts";
import { rootOf } from "../../../model/uid.ts";
import { accessOf, callerOf, isNarrowed } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { descriptionRule, nameRule } from "../../../pipeline/text-rules.ts";
import { requestMask } from "../../../resource/apply-update.ts";
import { commonOrders, defineResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { standardMethods } from "../../../resource/standard-methods.ts";
import { deleteRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { identityCollection, roleBindingCollection } from "../../../storage/iam/collections.ts";
import { findBindingsOf } from "../../../storage/iam/role-bindings.ts";
import type { IdentityRow } from "../../../storage/iam/rows.ts";
import { checkRelationship, checkUserSubject } from "../../../sts/identity-rules.ts";
import { groupParents } from "../groups/groups.ts";
import { requireHeldRoles } from "../rules/escalation.ts";
import { refuseLastOwner, refuseUnreachable } from "../rules/last-owner.ts";
import { isKnownAt } from "../users/membership.ts";
import { isUserUid, userUid } from "../users/user-uid.ts";
import { fromColumns, relationshipRules, toColumns } from "./relationships.ts";
import { logTrust, trustAfter } from "./stored-trust.ts";

/** How many bindings of a deleted identity are read at once. */
const bindingBatch = 500;

/** The columns that sign-ins and the identity itself set. */
type OwnColumns = "email" | "emailUnverified" | "metadata" | "lastSeenTime" | "trust";

export const identityResource = (context: ServiceContext) =>
  defineResource<typeof IdentitySchema, IdentityRow, OwnColumns>({
    schema: IdentitySchema,
    plural: "identities",
    collection: identityCollection,
    orderable: commonOrders,
    rules: { name: nameRule, description: descriptionRule },
    parts: relationshipRules,
    check: (identity, checkContext) =>
      checkRelationship(identity, { ...checkContext, allowInsecureIssuers: context.settings.allowInsecureIssuers }),
    toMessage: identityMessage,
    toRow: (identity: Identity) => ({
      name: identity.name,
      description: identity.description,
      company: identity.company,
      ...toColumns(identity.relationship),
    }),
  });

/** Serves identities. */
export function identities(context: ServiceContext): Implementation {
  const identity = identityResource(context);
  const standard = standardMethods(identity, groupParents, context);
  return implement(
    IdentitiesService,
    {
      getIdentity: standard.get,
      listIdentities: (request, call) =>
        standard.list(request, call, { name: request.name, relationshipType: request.relationshipType }),
      createIdentity: ({ parent, identity: value }, call) =>
        standard.create(parent, value!, call, (_uid, createTime) => ({
          email: "",
          emailUnverified: "",
          metadata: {},
          // Never used.
          lastSeenTime: createTime,
          trust: null,
        })),
      updateIdentity: (request, call) =>
        standard.update(request.identity!, request.updateMask, call, async (tx, before, after) => {
          // Stored as JSON: a database may reorder the members.
          const isSame = isDeepStrictEqual(before.relationship, after.relationship);
          if (isSame) return after;
          await requireHeldRoles(tx, before.uid, call);
          await refuseUnreachable(tx, after, callerOf(call).uid === after.uid, call);
          const trust = trustAfter(before.trust, before.relationship, after.relationship);
          logTrust(tx, before, before.trust ?? noTrust, trust ?? noTrust);
          return { ...after, trust };
        }),
      deleteIdentity: (request, call) => standard.delete(request, call, (tx, row) => unbind(tx, row.uid, call)),
      lookupIdentity({ issuer, subject }) {
        const violations = checkUserSubject(issuer, subject);
        if (violations.length > 0) throw invalidArgument(violations);
        return { uid: userUid(issuer, subject) };
      },
      async updateIdentityMetadata({ identityMetadata: value, updateMask }, call) {
        const { uid } = callerOf(call);
        // The response contains all metadata, so a narrowed token may not read it either.
        if (isNarrowed(call))
          throw permissionDenied(
            "a narrowed token cannot change the metadata of its identity; use one that is not narrowed",
          );
        return await context.database.write(writeContext(call, context.clock), async (tx) =>
          changeMetadata(tx, await standard.find(tx, uid), value!, updateMask),
        );
      },
    },
    identity.messageRules,
  );
}

/** Converts a stored identity to its message. */
export function identityMessage(row: IdentityRow): MessageInitShape<typeof IdentitySchema> {
  const { uid, name, description, email, emailUnverified, company } = row;
  return {
    uid,
    name,
    description,
    email,
    emailUnverified,
    company,
    relationship: fromColumns(row.relationship),
    lastSeenTime: toTimestamp(row.lastSeenTime),
    createTime: toTimestamp(row.createTime),
    updateTime: toTimestamp(row.updateTime),
  };
}

async function changeMetadata(
  tx: Transaction,
  before: IdentityRow,
  value: IdentityMetadata,
  updateMask: FieldMask | undefined,
): Promise<IdentityMetadata> {
  const metadata = metadataMessage(before);
  const mask = requestMask(IdentityMetadataSchema, value, updateMask);
  // The visitor token is never stored.
  applyMask(IdentityMetadataSchema, metadata, { ...value, hubspotUtk: "" }, mask);
  const { company } = metadata;
  const updateTime = tx.context.time;
  await updateRow(tx, identityCollection, before, {
    ...before,
    company,
    metadata: storedMetadata(metadata),
    updateTime,
  });
  return metadata;
}

function metadataMessage(row: IdentityRow): IdentityMetadata {
  const stored = fromJson(IdentityMetadataSchema, row.metadata as JsonValue, { ignoreUnknownFields: true });
  return create(IdentityMetadataSchema, { ...stored, uid: row.uid, name: row.name, company: row.company });
}

function storedMetadata(metadata: IdentityMetadata): Record<string, unknown> {
  return toJson(IdentityMetadataSchema, { ...metadata, uid: "", name: "", company: "" }) as Record<string, unknown>;
}

/**
 * Deletes all role bindings of an identity, also those in other organizations. Throws LAST_OWNER if any organization would be left
 * without an owner.
 */
export async function unbind(tx: Transaction, identityUid: string, call: Call): Promise<void> {
  for (;;) {
    const bindings = await findBindingsOf(tx, "identityUid", identityUid, bindingBatch);
    for (const binding of bindings) {
      await refuseLastOwner(tx, binding, call);
      const isKnown = await isActorKnown(tx, binding.parent, call);
      await deleteRow(isKnown ? tx : withoutActor(tx), roleBindingCollection, binding);
    }
    if (bindings.length < bindingBatch) return;
  }
}

/** Whether the organization of a group may learn who the caller is. Anyone can bind a role to an identity of another organization. */
async function isActorKnown(tx: Transaction, groupUid: string, call: Call): Promise<boolean> {
  const { uid } = callerOf(call);
  return isUserUid(uid) ? await isKnownAt(tx, uid, groupUid) : accessOf(call).reaches(rootOf(groupUid));
}

/** Returns the transaction with a change log that omits the actor. */
function withoutActor(tx: Transaction): Transaction {
  const by = { actor: "", method: "identity_deleted", requestId: "" };
  return { ...tx, logChange: (entry) => tx.logChange({ ...entry, by }) };
}
