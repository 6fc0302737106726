// The changes that can be simulated. Each checks what the real method checks, with the same functions, and says which role bindings change.
import { create, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { GroupSchema } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import {
  type CreateRoleBindingRequest,
  RoleBindingSchema,
  RoleBindingsService,
  type UpdateRoleBindingRequest,
} from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import {
  RoleSchema,
  RolesService,
  type UpdateRoleRequest,
  UpdateRoleRequestSchema,
} from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import type { RoleChange, SimulateChangeRequest } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import {
  type CreateRoleBindingTermRequest,
  RoleBindingTermSchema,
  RoleBindingTermsService,
  type UpdateRoleBindingTermRequest,
} from "../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { invalidField, notFound } from "../../aip/errors.ts";
import { resourceType } from "../../aip/resource-type.ts";
import { accessRuleOf } from "../../authz/rules.ts";
import { isInTerm, noTerm, type Term } from "../../model/grants.ts";
import { parentOf } from "../../model/uid.ts";
import { authorize, previewOf, requireCapability } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { requestMask, updateApplier } from "../../resource/apply-update.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { requireDepth } from "../../resource/standard-methods.ts";
import { findRow, rowExists } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { groupCollection, roleBindingCollection, roleCollection } from "../../storage/iam/collections.ts";
import { findBinding, findBindingsOf } from "../../storage/iam/role-bindings.ts";
import type { RoleBindingRow } from "../../storage/iam/rows.ts";
import { duplicate } from "../iam/role-bindings/creation.ts";
import { roleBinding } from "../iam/role-bindings/resource.ts";
import { keepsOwner, requireBindable, requireReferences } from "../iam/role-bindings/role-binding-rules.ts";
import { isLonger, requestedTerm, requireTerm } from "../iam/role-bindings/term-rules.ts";
import { requireHeldRole, requireUnused, role } from "../iam/roles/roles.ts";
import { requireOtherOwner } from "../iam/rules/last-owner.ts";
import { findOpen } from "../iam/users/ended-bindings.ts";
import type { ChangedGrant } from "./effects.ts";

/** How many role bindings of a changed role count. */
export const maxChanged = 500;

/** A change, with its effects on bindings. */
export interface SimulatedChange {
  /** The group of the changed role binding or role. */
  readonly place: string;
  /** The checks of the real method. Each throws if the change is not possible. */
  readonly checks: readonly (() => unknown)[];
  readonly grants: readonly ChangedGrant[];
}

type Settings = Pick<ServiceContext, "settings" | "clock">;
type Change = Exclude<SimulateChangeRequest["change"]["case"], undefined>;

/** The methods that make the changes for real. */
export const methods: Readonly<Record<Change, DescMethodUnary>> = {
  createRoleBinding: RoleBindingsService.method.createRoleBinding,
  updateRoleBinding: RoleBindingsService.method.updateRoleBinding,
  deleteRoleBinding: RoleBindingsService.method.deleteRoleBinding,
  updateRole: RolesService.method.updateRole,
  deleteRole: RolesService.method.deleteRole,
  createTerm: RoleBindingTermsService.method.createRoleBindingTerm,
  updateTerm: RoleBindingTermsService.method.updateRoleBindingTerm,
  endTerm: RoleBindingTermsService.method.endRoleBindingTerm,
};

/** Returns the change of a request. Throws if the caller may not see what it concerns, and if it concerns nothing. */
export async function readChange(
  session: Session,
  { change }: SimulateChangeRequest,
  call: Call,
  context: Settings,
): Promise<SimulatedChange> {
  switch (change.case) {
    case "createRoleBinding":
      return await createBinding(session, change.value, call, context);
    case "updateRoleBinding":
      return await updateBinding(session, change.value, call, context);
    case "deleteRoleBinding":
      return await deleteBinding(session, change.value, call, context);
    case "updateRole":
      return await updateRole(session, change.value, call, context);
    case "deleteRole":
      return await deleteRole(session, change.value, call);
    case "createTerm":
      return await createTerm(session, change.value, call, context);
    case "updateTerm":
      return await updateTerm(session, change.value, call, context);
    case "endTerm":
      return await deleteBinding(session, change.value, call, context, "endTerm");
    default:
      throw invalidField("change", "is required");
  }
}

async function createBinding(
  session: Session,
  request: CreateRoleBindingRequest,
  call: Call,
  context: Settings,
): Promise<SimulatedChange> {
  const { parent, roleBinding: value = create(RoleBindingSchema) } = request;
  const isAllowedTo = isAllowed("createRoleBinding", request, call);
  return await newBinding(session, { parent, ...value, ...noTerm }, isAllowedTo, call, context);
}

async function createTerm(
  session: Session,
  request: CreateRoleBindingTermRequest,
  call: Call,
  context: Settings,
): Promise<SimulatedChange> {
  const { parent, term: value = create(RoleBindingTermSchema) } = request;
  const term = requestedTerm(value, { isFull: true, paths: [] }, noTerm, session.termTime());
  requireTerm(term);
  const isAllowedTo = isAllowed("createTerm", request, call);
  const { identityUid, roleUid } = value;
  return await newBinding(session, { parent, identityUid, roleUid, ...term }, isAllowedTo, call, context);
}

async function updateTerm(
  session: Session,
  request: UpdateRoleBindingTermRequest,
  call: Call,
  { clock }: Settings,
): Promise<SimulatedChange> {
  const { term: value = create(RoleBindingTermSchema), updateMask } = request;
  requireVisible(call, value.uid);
  const before = await findOpen(session, value.uid);
  const now = session.termTime();
  const mask = requestMask(RoleBindingTermSchema, value, updateMask);
  const after = { ...before, ...requestedTerm(value, mask, before, now) };
  const capabilities = await capabilitiesOf(session, before.roleUid);
  const { uid, identityUid, parent: groupUid } = before;
  const heldIn = (term: Term) => (isInTerm(term, now) ? capabilities : []);
  return {
    place: groupUid,
    checks: [
      isAllowed("updateTerm", request, call),
      () => isLonger(before, after) && requireReferences(session, after, groupUid, call, after),
      async () =>
        (await keepsOwner(session, before, after, clock())) || requireOtherOwner(session, before, call, clock()),
    ],
    grants: [{ uid, identityUid, groupUid, before: heldIn(before), after: heldIn(after) }],
  };
}

/** Returns the change that adds a binding. */
async function newBinding(
  session: Session,
  value: Pick<RoleBindingRow, "parent" | "identityUid" | "roleUid" | keyof Term>,
  isAllowedTo: () => void,
  call: Call,
  { settings }: Settings,
): Promise<SimulatedChange> {
  const { parent, identityUid, roleUid } = value;
  requireVisible(call, parent, roleUid);
  const after = await capabilitiesOf(session, roleUid);
  return {
    place: parent,
    checks: [
      isAllowedTo,
      () => requireGroup(session, parent),
      () => requireDepth(parent, settings),
      () => requireReferences(session, value, parent, call, value),
      () => requireBindable(session, identityUid, parent, call),
      () => requireNew(session, { parent, roleUid, identityUid }),
    ],
    grants: [{ uid: "", identityUid, groupUid: parent, before: [], after }],
  };
}

async function updateBinding(
  session: Session,
  request: UpdateRoleBindingRequest,
  call: Call,
  { clock }: Settings,
): Promise<SimulatedChange> {
  const { roleBinding: value = create(RoleBindingSchema), updateMask } = request;
  const { uid } = value;
  requireVisible(call, uid);
  const before = await findRow(session, roleBindingCollection, uid);
  if (!before) throw notFound(roleBinding.type, uid);
  const mask = requestMask(RoleBindingSchema, value, updateMask);
  const after = updateApplier(roleBinding)(before, value, mask, clock());
  if (after.roleUid !== before.roleUid) requireVisible(call, uid, after.roleUid);
  const isMoved = after.identityUid !== before.identityUid;
  const isOther = isMoved || after.roleUid !== before.roleUid;
  const { parent: groupUid } = before;
  const [had, has] = [await capabilitiesOf(session, before.roleUid), await capabilitiesOf(session, after.roleUid)];
  return {
    place: groupUid,
    checks: [
      isAllowed("updateRoleBinding", request, call),
      () => requireReferences(session, after, groupUid, call, before),
      () => isMoved && requireBindable(session, after.identityUid, groupUid, call),
      async () =>
        (await keepsOwner(session, before, after, clock())) || requireOtherOwner(session, before, call, clock()),
      () => isOther && requireNew(session, after),
    ],
    grants: isMoved
      ? [
          { uid, identityUid: before.identityUid, groupUid, before: had, after: [] },
          { uid, identityUid: after.identityUid, groupUid, before: [], after: has },
        ]
      : [{ uid, identityUid: before.identityUid, groupUid, before: had, after: has }],
  };
}

async function deleteBinding(
  session: Session,
  request: Message & { uid: string },
  call: Call,
  { clock }: Settings,
  change: "deleteRoleBinding" | "endTerm" = "deleteRoleBinding",
): Promise<SimulatedChange> {
  const { uid } = request;
  requireVisible(call, uid);
  const row = await findRow(session, roleBindingCollection, uid);
  const isAllowedTo = isAllowed(change, request, call);
  // Published contract: deleting what does not exist succeeds.
  if (!row) return { place: parentOf(uid), checks: [isAllowedTo], grants: [] };
  const { identityUid, parent: groupUid } = row;
  const before = await capabilitiesOf(session, row.roleUid);
  return {
    place: groupUid,
    checks: [isAllowedTo, () => requireOtherOwner(session, row, call, clock())],
    grants: [{ uid, identityUid, groupUid, before, after: [] }],
  };
}

async function updateRole(
  session: Session,
  change: RoleChange,
  call: Call,
  { clock }: Settings,
): Promise<SimulatedChange> {
  const request = roleUpdate(change);
  const value = request.role!;
  const before = await visibleRole(session, value.uid, call);
  const after = updateApplier(role)(before, value, requestMask(RoleSchema, value, request.updateMask), clock());
  return {
    place: parentOf(before.uid),
    checks: [isAllowed("updateRole", request, call), () => requireHeldRole(call, before, after)],
    grants: await grantsOf(session, before.uid, before.capabilities, after.capabilities),
  };
}

/** Returns the request that would change the capabilities of a role. */
export function roleUpdate({ uid, capabilities }: RoleChange): UpdateRoleRequest {
  return create(UpdateRoleRequestSchema, { role: { uid, capabilities }, updateMask: { paths: ["capabilities"] } });
}

async function deleteRole(session: Session, request: Message & { uid: string }, call: Call): Promise<SimulatedChange> {
  const row = await visibleRole(session, request.uid, call);
  return {
    place: parentOf(row.uid),
    checks: [isAllowed("deleteRole", request, call), () => requireUnused(session, row)],
    grants: await grantsOf(session, row.uid, row.capabilities, []),
  };
}

/** Returns the check that the caller may call the method that makes the change. */
function isAllowed(change: Change, request: Message, call: Call): () => void {
  return () => authorize(previewOf(call), accessRuleOf(methods[change])!, request);
}

/** Throws unless the caller may list role bindings at a place, and may list a role of a group. */
function requireVisible(call: Call, uid: string, roleUid = ""): void {
  requireCapability(call, Capability.CAP_IAM_ROLE_BINDINGS_LIST, uid);
  if (roleUid.includes("/")) requireCapability(call, Capability.CAP_IAM_ROLES_LIST, roleUid);
}

async function visibleRole(session: Session, uid: string, call: Call) {
  requireVisible(call, uid, uid);
  const row = await findRow(session, roleCollection, uid);
  if (!row) throw notFound(role.type, uid);
  return row;
}

async function capabilitiesOf(session: Session, roleUid: string): Promise<readonly number[]> {
  return (await findRow(session, roleCollection, roleUid))?.capabilities ?? [];
}

/** Returns the bindings of a role, one more than `maxChanged` at most. A role is bound in its group and below only. */
async function grantsOf(session: Session, roleUid: string, before: readonly number[], after: readonly number[]) {
  const bindings = await findBindingsOf(session, "roleUid", roleUid, maxChanged + 1);
  return bindings.map(({ uid, identityUid, parent }) => ({ uid, identityUid, groupUid: parent, before, after }));
}

async function requireGroup(session: Session, uid: string): Promise<void> {
  if (!(await rowExists(session, groupCollection, uid))) throw notFound(resourceType(GroupSchema), uid);
}

async function requireNew(session: Session, binding: Pick<RoleBindingRow, "parent" | "roleUid" | "identityUid">) {
  if (await findBinding(session, binding.parent, binding.roleUid, binding.identityUid)) throw duplicate();
}
