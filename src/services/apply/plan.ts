// Decides what has to be done to make a group look like the resources of a request.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ApplyResourcesRequest,
  PlannedAction,
  type PlannedChangeSchema,
} from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { failedPreconditions, invalidField } from "../../aip/errors.ts";
import type { Yield } from "../../base/yielding.ts";
import { callerOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Session } from "../../storage/engine/session.ts";
import type { Named, StoredNamed, StoredResource, Surplus, Wanted } from "../kinds/kind.ts";
import { joinPath, Names, parentPath } from "../kinds/names.ts";
import type { AnySpec, KindName, StoredRows } from "../kinds/spec.ts";
import { resources } from "../resources.ts";
import { differences, type FieldDifference } from "./compare.ts";
import { type AtVersion, planFingerprint, versionOf } from "./joined-calls.ts";
import { kindNamed, kindOf, kindOrder, kindsOf, targetKinds, withReferences } from "./kinds.ts";
import { noRows, readStoredRows } from "./stored-rows.ts";
import { storedResources } from "./stored-values.ts";
import { nameOf, wantedResources } from "./wanted.ts";

/** Something to do with one resource. */
export interface Step extends Named {
  readonly action: PlannedAction;
  /** The resource in the request; undefined for a deletion. */
  readonly wanted: Wanted | undefined;
  /** The stored resource; undefined for a creation. */
  readonly stored: StoredResource | undefined;
  readonly fields: readonly FieldDifference[];
  /** Whether a client secret of the request is stored. */
  readonly setsSecret: boolean;
  readonly reason: string;
}

/** The plan of an apply, in the order of its execution. */
export interface Plan extends AtVersion {
  readonly names: Names;
  readonly steps: readonly Step[];
  readonly unchangedCount: number;
  /** A digest of the plan: equal plans have equal fingerprints. */
  readonly fingerprint: string;
}

/**
 * Makes the plan of a request. Throws for what the request gets wrong, and for kinds that the caller may not list. Lets other requests
 * run, so the session must be one whose snapshot nobody shares.
 */
export async function makePlan(
  session: Session,
  request: ApplyResourcesRequest,
  call: Call,
  pause: Yield,
): Promise<Plan> {
  const version = await versionOf(session, request.groupUid);
  const rows = await rowsFor(session, request, call, pause);
  const names = await Names.of(rows, targetKinds, pause);
  const wanted = await wantedResources(request.resources, names, pause);
  requireOwnName(wanted, rows);
  const stored: StoredNamed[] = [];
  for (const each of await storedResources(rows, names, pause)) {
    stored.push({ ...nameOf(each.resource, names), stored: each });
    await pause();
  }
  const byKey = new Map(stored.map((each) => [each.key, each]));
  const steps: Step[] = [];
  let unchangedCount = 0;
  for (const each of wanted) {
    const step = stepFor(each, byKey.get(each.key)?.stored, { request, names, call });
    if (step) steps.push(step);
    else unchangedCount++;
    await pause();
  }
  const ordered = kindOrder.flatMap((kind) => ofKind(steps, kind));
  const deletions = request.prune ? await prunedSteps({ request, rows, names, wanted, stored }, call, pause) : [];
  const all = [...ordered, ...deletions];
  return { version, names, steps: all, unchangedCount, fingerprint: fingerprintOf(all) };
}

/** The groups among the steps come in the order of their depth, since a parent has to exist first. */
function ofKind(steps: readonly Step[], kind: KindName): readonly Step[] {
  const found = steps.filter(({ resource }) => resource.case === kind);
  return kind === "group" ? found.sort((a, b) => depthOf(a.name) - depthOf(b.name)) : found;
}

function depthOf(path: string): number {
  return path.split("/").length;
}

async function rowsFor(
  session: Session,
  request: ApplyResourcesRequest,
  call: Call,
  pause: Yield,
): Promise<StoredRows> {
  const { groupUid, resources } = request;
  if (groupUid !== "") return await readStoredRows(session, groupUid, comparedKinds(request), call, pause);
  if (!resources.some(({ resource }) => resource.case === "organization"))
    throw invalidField("group_uid", "is required, unless the resources have an organization to create");
  return noRows;
}

/** Returns the kinds of the request, those that it prunes, and those that they refer to. */
function comparedKinds(request: ApplyResourcesRequest): ReadonlySet<KindName> {
  const found = new Set([...kindsOf(request.resources), ...(request.prune ? prunedKinds(request) : [])]);
  if (request.prune)
    for (const kind of [...found]) for (const other of kindNamed(kind).file.keptBy ?? []) found.add(other);
  return withReferences(found);
}

function prunedKinds({ pruneKinds, resources }: ApplyResourcesRequest): ReadonlySet<KindName> {
  const asked = pruneKinds.flatMap((value) => kindOf(value) ?? []);
  return asked.length > 0 ? new Set(asked) : kindsOf(resources);
}

/** An apply to the wrong organization must not rename it. */
function requireOwnName(wanted: readonly Wanted[], { base }: StoredRows): void {
  const organization = wanted.find(({ resource }) => resource.case === "organization");
  if (!organization || !base) return;
  const field = `resources[${organization.index}].organization`;
  if (base.parent !== null) throw invalidField(field, "the group of the request is not an organization");
  if (organization.name !== base.name)
    throw invalidField(`${field}.name`, `is not the name of the organization, which is ${JSON.stringify(base.name)}`);
}

function stepFor(
  wanted: Wanted,
  stored: StoredResource | undefined,
  { request, names, call }: { readonly request: ApplyResourcesRequest; readonly names: Names; readonly call: Call },
): Step | undefined {
  const { file } = kindNamed(wanted.resource.case);
  if (request.groupUid === "" && file.comesWithOrganization?.(wanted.resource.value, names, callerOf(call).uid))
    return undefined;
  const common = { ...wanted, wanted, stored, reason: "" };
  const hasSecret = (file.secret?.of(wanted.resource.value) ?? "") !== "";
  if (!stored) return { ...common, action: PlannedAction.CREATE, fields: [], setsSecret: hasSecret };
  const resource = withoutIgnored(wanted.resource, stored, call);
  const found = differences(stored.resource, resource);
  const isBoundElsewhere = found.some(({ field }) => field === file.secret?.boundTo);
  const setsSecret = hasSecret && (isBoundElsewhere || request.setClientSecrets);
  const secret = setsSecret ? [{ field: file.secret!.field, oldValue: "", newValue: "(secret)" }] : [];
  const fields = [...found, ...secret];
  if (fields.length === 0) return undefined;
  return { ...common, resource, action: PlannedAction.UPDATE, fields, setsSecret };
}

/** Ignores fields that the caller may not set, as the write itself does: they do not count as a difference. */
function withoutIgnored({ case: kind, value }: AnySpec, { uid, resource }: StoredResource, call: Call): AnySpec {
  const left = kindNamed(kind).file.withoutIgnored?.(value, resource.value, uid, call) ?? value;
  return { case: kind, value: left } as AnySpec;
}

interface Pruning {
  readonly request: ApplyResourcesRequest;
  readonly rows: StoredRows;
  readonly names: Names;
  readonly wanted: readonly Wanted[];
  readonly stored: readonly StoredNamed[];
}

/** Returns the deletions of what the request does not have: what refers to others first, and groups from the bottom up. */
async function prunedSteps(
  { request, rows, names, wanted, stored }: Pruning,
  call: Call,
  pause: Yield,
): Promise<readonly Step[]> {
  requireUnambiguous(names);
  const asked = prunedKinds(request);
  const keys = new Set(wanted.map(({ key }) => key));
  const isCovered = coverage(request, rows);
  const surplus = stored.filter(
    ({ key, resource, group }) =>
      asked.has(resource.case) && resource.case !== "organization" && !keys.has(key) && isCovered(group),
  );
  await pause();
  const reasonOf = keptReasons({ wanted, stored, surplus, names, callerUid: callerOf(call).uid });
  const steps: Step[] = [];
  for (const each of surplus) {
    const reason = reasonOf(each);
    const action = reason === "" ? PlannedAction.DELETE : PlannedAction.KEEP;
    steps.push({ ...each, action, wanted: undefined, fields: [], setsSecret: false, reason });
    await pause();
  }
  return [...kindOrder].reverse().flatMap((kind) => [...ofKind(steps, kind)].reverse());
}

/** Throws if several stored resources have the same path: then it is not clear which one the request has. */
export function requireUnambiguous(names: Names): void {
  const shared = names.ambiguous().flatMap(({ kind, path, uids }) => uids.map((uid) => ({ kind, path, uid })));
  if (shared.length === 0) return;
  throw failedPreconditions(
    "AMBIGUOUS_NAME",
    `${shared.length} resources share their paths; rename all but one of each path`,
    shared.map(({ kind, path, uid }) => ({
      description: `${nounOf(kind)} ${JSON.stringify(path)}`,
      subject: uid,
    })),
  );
}

/** Returns the words of a kind: `identity provider` for identityProvider. */
function nounOf(kind: KindName): string {
  return kind.replaceAll(/(?=[A-Z])/g, " ").toLowerCase();
}

/** An organization that the request does not have is not covered: files of one team must not delete what others have. */
function coverage({ resources }: ApplyResourcesRequest, { base }: StoredRows): (group: string) => boolean {
  const hasAll = base?.parent !== null || resources.some(({ resource }) => resource.case === "organization");
  if (hasAll) return () => true;
  const paths = new Set(
    resources.flatMap(({ resource }) => (resource.case === "group" ? [pathOf(resource.value)] : [])),
  );
  return (group) => {
    for (let at = group; at !== ""; at = parentPath(at)) if (paths.has(at)) return true;
    return false;
  };
}

function pathOf({ group, name }: { readonly group: string; readonly name: string }): string {
  return joinPath(group, name);
}

/** Returns the function that says why a resource is kept; empty if it is deleted. */
function keptReasons(all: Surplus): (each: StoredNamed) => string {
  const used = new Set<string>();
  for (const { group } of all.wanted) for (let at = group; at !== ""; at = parentPath(at)) used.add(at);
  const ofKinds = new Map(resources.map(({ name, file }) => [name, file.keptReasons?.(all)]));
  return (each) => {
    const { resource, name, stored } = each;
    if (stored.uid === all.callerUid) return "it is your identity";
    if (stored.outside !== "") return stored.outside;
    if (resource.case === "group" && used.has(name)) return "the request has resources in it";
    return ofKinds.get(resource.case)?.(each) ?? "";
  };
}

/** Returns the changes of a plan for the response. */
export function changesOf({ steps }: Plan): MessageInitShape<typeof PlannedChangeSchema>[] {
  return steps.map(({ action, resource, name, stored, wanted, fields, reason }) => ({
    action,
    kind: kindNamed(resource.case).number,
    name,
    uid: stored?.uid ?? wanted?.target?.uid ?? "",
    reason,
    ...(wanted && { index: wanted.index }),
    fields: [...fields],
  }));
}

/** Call it before the plan is executed: then new resources get their uids. */
function fingerprintOf(steps: readonly Step[]): string {
  const seen = steps.map(({ action, key, stored, fields, reason }) => [action, key, stored?.uid ?? "", fields, reason]);
  return planFingerprint(seen);
}

/** Returns the steps of a plan that write. */
export function changingSteps({ steps }: Plan): readonly Step[] {
  return steps.filter(({ action }) => action !== PlannedAction.KEEP);
}
