import { create, type JsonObject } from "@bufbuild/protobuf";
import {
  BatchCreateRoleBindingsResponseSchema,
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RoleBindingTermsService } from "../../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { RoleBindingSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import type { FieldViolation } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { ownerRole } from "../../../authz/built-in-roles.ts";
import { hasTerm } from "../../../model/grants.ts";
import { parentOf } from "../../../model/uid.ts";
import { type MethodEvent, type ResourceEvents, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { textOf, withParts } from "../../../resource/sentence-form.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { defineKind, type Recorded, type StoredNamed, type Surplus } from "../../kinds/kind.ts";
import { missingRole, missingTarget, shown } from "../../kinds/missing.ts";
import { atGroup, keyOf, type Names } from "../../kinds/names.ts";
import type { AnySpec, SpecOf } from "../../kinds/spec.ts";
import { isUserUid } from "../users/user-uid.ts";
import { hydrate } from "./hydration.ts";
import { roleBindingImport } from "./import.ts";
import { roleBindings } from "./role-bindings.ts";

const { createRoleBinding, updateRoleBinding, deleteRoleBinding, batchCreateRoleBindings } = RoleBindingsService.method;

const recorded: ResourceEvents<typeof RoleBindingSchema, RoleBindingRow> = {
  collection: roleBindingCollection,
  schema: RoleBindingSchema,
  message: async (row, session) => (await hydrate(session, [row]))[0]!,
};

const batchEvent: MethodEvent = {
  method: batchCreateRoleBindings,
  kind: roleBindingCollection.kind,
  isBatch: true,
  group: parentOf,
  subject: ([uid]) => parentOf(uid!),
  async body(changes, session) {
    const rows = changes.map(({ after }) => after as RoleBindingRow);
    return create(BatchCreateRoleBindingsResponseSchema, { roleBindings: await hydrate(session, rows) });
  },
};

const publishedMethods = [createRoleBinding, updateRoleBinding, deleteRoleBinding];

/** The event of a deletion. Role bindings that end by themselves have the same. */
export const deletionEvent: MethodEvent = resourceEvents([deleteRoleBinding], recorded)[0]!;

const terms = RoleBindingTermsService.method;

/** The methods that change terms, in the order of the published methods whose events they cause. */
const termMethods = [terms.createRoleBindingTerm, terms.updateRoleBindingTerm, terms.endRoleBindingTerm];

const termEvents: readonly MethodEvent[] = resourceEvents(publishedMethods, recorded).map((event, i) => ({
  ...event,
  like: event.method,
  method: termMethods[i]!,
}));

/** The recording of changes of role bindings. */
const recordedRoleBindings: Recorded = {
  views: [
    rowView(
      recorded,
      ({ uid, identityUid, parent, roleUid, createTime }: RoleBindingRow) => ({
        uid,
        identity: { uid: identityUid },
        group: { uid: parent },
        role: { uid: roleUid },
        createTime: toTimestamp(createTime),
      }),
      withParts({
        identity: ({ identity }) => ({ uid: textOf((identity as JsonObject).uid) }),
        role: ({ role }) => ({ uid: textOf((role as JsonObject).uid) }),
      }),
    ),
  ],
  events: () => [...resourceEvents(publishedMethods, recorded), batchEvent, ...termEvents],
};

type Spec = SpecOf<"roleBinding">;

/** Role bindings. */
export const roleBindingKind = defineKind({
  name: "roleBinding",
  schema: RoleBindingSchema,
  service: RoleBindingsService,
  collection: roleBindingCollection,
  implement: roleBindings,
  transfer: [roleBindingImport],
  recorded: recordedRoleBindings,
  file: {
    references: ["role", "identity"],
    // Their default roles decide which role bindings are kept.
    keptBy: ["identityProvider"],
    nameOf({ identity, identityUid, role }, names, group) {
      const bound = identity === "" ? identityUid : keyOf(names.find("identity", identity)!);
      const key = `${group} ${bound} ${names.roleKey(group, role)}`;
      return { name: `${identity || identityUid} has ${role}${atGroup(group)}`, key };
    },
    missing: (value, names, group) => [
      ...missingIdentity(value, names),
      ...missingRole("role", value.role, group, names),
    ],
    // A file would bind the role again, without an end, once it has ended.
    outside: (row) => (hasTerm(row) ? "it has a term" : ""),
    toSpec({ parent, identityUid, roleUid }, names) {
      const group = names.pathOf(parent);
      const identity = names.findPath(identityUid);
      const bound = identity === undefined ? { identityUid } : { identity };
      return create(RoleBindingSpecSchema, { group, ...bound, role: names.roleReference(group, roleUid) });
    },
    toMessage: ({ group, identity, identityUid, role }, uids) => ({
      identityUid: identity === "" ? identityUid : uids.identity(identity),
      roleUid: uids.role(group, role),
    }),
    errorFields: { role_uid: "role", identity_uid: "identity" },
    namingFields: ["role", "identity", "identity_uid"],
    // Two role bindings could create the same pending user.
    createsAlongside: ({ identity }) => identity !== "",
    // CreateGroup makes the caller the owner of a new organization.
    comesWithOrganization: (value, names, callerUid) => value.group === "" && isOwnerBinding(value, callerUid, names),
    // DeleteGroup deletes the owner binding of its caller together with the organization, which must have an owner until then.
    goesWithOrganization: ({ parent, identityUid, roleUid }, { uid }, callerUid) =>
      parent === uid && identityUid === callerUid && roleUid === ownerRole.uid,
    keptReasons,
  },
});

function missingIdentity({ identity, identityUid }: Spec, names: Names): readonly FieldViolation[] {
  const field = "identity";
  if ((identity === "") === (identityUid === ""))
    return [{ field, description: "is required, or identity_uid, and not both" }];
  if (identity === "") return [];
  if (names.isAmbiguous("identity", identity))
    return [{ field, description: `several identities have the path ${shown(identity)}` }];
  return missingTarget(field, "identity", identity, names);
}

function isOwnerBinding({ identity, identityUid, role, group }: Spec, callerUid: string, names: Names): boolean {
  const uid = identity === "" ? identityUid : names.find("identity", identity)?.uid;
  return uid === callerUid && names.findRole(group, role)?.uid === ownerRole.uid;
}

/** Keeps the last owner binding of the caller, and what identity providers give to users who sign in. */
function keptReasons({ wanted, stored, surplus, names, callerUid }: Surplus): (each: StoredNamed) => string {
  const owned = ({ resource }: { readonly resource: AnySpec }) =>
    resource.case === "roleBinding" && isOwnerBinding(resource.value, callerUid, names);
  const lastOwned = wanted.some(owned) ? undefined : surplus.find(owned);
  const defaultRoles = new Set([...wanted, ...stored].flatMap(({ resource }) => defaultRoleKey(resource, names)));
  return (each) => {
    if (each === lastOwned) return "it is your last role binding as owner";
    const { group, identityUid, role: reference } = each.resource.value as Spec;
    if (group !== "" || !isUserUid(identityUid)) return "";
    const role = names.findRole("", reference);
    return role && defaultRoles.has(keyOf(role)) ? "an identity provider gives this role to users who sign in" : "";
  };
}

function defaultRoleKey(resource: AnySpec, names: Names): readonly string[] {
  const role = resource.case === "identityProvider" ? names.findRole("", resource.value.defaultRole) : undefined;
  return role ? [keyOf(role)] : [];
}
