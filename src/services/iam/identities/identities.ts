import { isDeepStrictEqual } from "node:util";
import { create, fromJson, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
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
import { checkPerson, checkRelationship } from "../../../sts/identity-rules.ts";
import { groupParents } from "../groups/groups.ts";
import { requireHeldRoles } from "../rules/escalation.ts";
import { refuseLastOwner } from "../rules/last-owner.ts";
import { isKnownAt } from "../users/membership.ts";
import { isUserUid, userUid } from "../users/user-uid.ts";
import { fromColumns, relationshipRules, toColumns } from "./relationships.ts";

/** Bindings that are taken away with an identity, in portions of this size. */
const bindingPortion = 500;

/** What is found out of an identity, or said by it of itself. */
type OwnColumns = "email" | "emailUnverified" | "metadata" | "lastSeenTime";

const identityResource = (context: ServiceContext) =>
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
        standard.create(parent, value!, call, {
          email: "",
          emailUnverified: "",
          metadata: {},
          lastSeenTime: context.clock(),
        }),
      updateIdentity: (request, call) =>
        standard.update(request.identity!, request.updateMask, call, async (tx, before, after) => {
          // Stored as JSON, whose members a database may put into another order.
          const isSame = isDeepStrictEqual(before.relationship, after.relationship);
          if (!isSame) await requireHeldRoles(tx, before.uid, call);
          return after;
        }),
      deleteIdentity: (request, call) => standard.delete(request, call, (tx, row) => unbind(tx, row.uid, call)),
      lookupIdentity({ issuer, subject }) {
        const violations = checkPerson(issuer, subject);
        if (violations.length > 0) throw invalidArgument(violations);
        return { uid: userUid(issuer, subject) };
      },
      async updateIdentityMetadata({ identityMetadata: value, updateMask }, call) {
        const { uid } = callerOf(call);
        // The reply has all of it, so that it is not even read.
        if (isNarrowed(call))
          throw permissionDenied("a token that is narrowed cannot change what somebody says of themselves");
        return await context.database.write(writeContext(call, context.clock), async (tx) => {
          const before = await standard.find(tx, uid);
          const metadata = metadataMessage(before);
          // A visitor token is passed on with events, never stored.
          applyMask(
            IdentityMetadataSchema,
            metadata,
            { ...value!, hubspotUtk: "" },
            requestMask(IdentityMetadataSchema, value!, updateMask),
          );
          await updateRow(tx, identityCollection, before, {
            ...before,
            company: metadata.company,
            metadata: storedMetadata(metadata),
            updateTime: tx.context.time,
          });
          return metadata;
        });
      },
    },
    identity.messageRules,
  );
}

/** A stored identity as a message. */
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

function metadataMessage(row: IdentityRow): IdentityMetadata {
  const stored = fromJson(IdentityMetadataSchema, row.metadata as JsonValue, { ignoreUnknownFields: true });
  return create(IdentityMetadataSchema, { ...stored, uid: row.uid, name: row.name, company: row.company });
}

function storedMetadata(metadata: IdentityMetadata): Record<string, unknown> {
  return toJson(IdentityMetadataSchema, { ...metadata, uid: "", name: "", company: "" }) as Record<string, unknown>;
}

/**
 * The bindings of an identity go with it, in the same transaction. Throws LAST_OWNER where that leaves an organization without an
 * owner, whichever it is. What else others have bound to it does not keep it.
 */
export async function unbind(tx: Transaction, identityUid: string, call: Call): Promise<void> {
  for (;;) {
    const bindings = await findBindingsOf(tx, "identityUid", identityUid, bindingPortion);
    for (const binding of bindings) {
      await refuseLastOwner(tx, binding, call);
      const isKnown = await isActorKnown(tx, binding.parent, call);
      await deleteRow(isKnown ? tx : withoutActor(tx), roleBindingCollection, binding);
    }
    if (bindings.length < bindingPortion) return;
  }
}

/** Whether the organization of a group may know who calls: anybody may bind a role to an identity that others delete. */
async function isActorKnown(tx: Transaction, groupUid: string, call: Call): Promise<boolean> {
  const { uid } = callerOf(call);
  return isUserUid(uid) ? await isKnownAt(tx, uid, groupUid) : accessOf(call).reaches(rootOf(groupUid));
}

/** The transaction with changes that do not say who made them. */
function withoutActor(tx: Transaction): Transaction {
  const by = { actor: "", method: "identity_deleted", requestId: "" };
  return { ...tx, logChange: (entry) => tx.logChange({ ...entry, by }) };
}
