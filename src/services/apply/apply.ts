// Applies a list of resources to a group, all or nothing (docs/decisions/0092).
import {
  type ApplyResourcesRequest,
  ApplyResourcesRequestSchema,
  ApplyService,
  type ExportResourcesRequest,
  type ResourceSpec,
  ResourceSpecSchema,
} from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { ApiError, failedPrecondition, fieldViolationsOf, invalidField } from "../../aip/errors.ts";
import { newViolations } from "../../aip/violations.ts";
import { compareTexts } from "../../base/compare-texts.ts";
import { once } from "../../base/lazy.ts";
import { nextSlice } from "../../base/slices.ts";
import type { Call } from "../../pipeline/call.ts";
import { expensive } from "../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { newRequestCheck, type RequestCheck } from "../../pipeline/nested-methods.ts";
import { clientOf } from "../../pipeline/observe.ts";
import { readTogether } from "../../resource/service-context.ts";
import { type ResourceExport, resourceExportKind } from "../../storage/change-log/access-entries.ts";
import type { Session } from "../../storage/engine/session.ts";
import type { StoredResource } from "../kinds/kind.ts";
import type { KindContext } from "../kinds/kind-options.ts";
import { anyUids, Names } from "../kinds/names.ts";
import type { KindName } from "../kinds/spec.ts";
import { recordExport } from "../record-export.ts";
import { subtreeDeletion } from "./destroy-subtree.ts";
import { describeFailure } from "./failures.ts";
import { newCallTogether, requireExpected } from "./joined-calls.ts";
import { kindNamed, kindOf, kindOrder, targetKinds, withReferences } from "./kinds.ts";
import { applyLimits } from "./limits.ts";
import { changesOf, makePlan, type Plan, requireUnambiguous } from "./plan.ts";
import { creation } from "./requests.ts";
import { readStoredRows } from "./stored-rows.ts";
import { storedResources } from "./stored-values.ts";
import { nameOf } from "./wanted.ts";
import { changingServices, planWriter } from "./write-plan.ts";

/** Serves the apply of resources. */
export function apply(context: KindContext): Implementation {
  const { database } = context;
  // Few servers are asked to apply.
  const newCheck = once(() => newRequestCheck(changingServices(context), context.clock));
  const check: RequestCheck = (method, request) => newCheck()(method, request);
  const callTogether = newCallTogether(context, check);
  const write = planWriter(context, callTogether);

  return implement(
    ApplyService,
    {
      applyResources: expensive(async (request, call) => {
        checkBounds(request);
        await checkRequests(request.resources, check);
        const seen = await database.read((session) => makePlan(session, request, call, nextSlice));
        requireExpected(request, seen.fingerprint);
        return responseOf(request, request.planOnly ? seen : await write(request, seen, call));
      }),
      exportResources: expensive(async (request, call) => {
        const resources = await readTogether(database, call, (session) => exportResources(session, request, call));
        const after: ResourceExport = clientOf(call);
        const { groupUid } = request;
        await recordExport(context, call, { kind: resourceExportKind, uid: groupUid, groupUid, after });
        return { resources };
      }),
      destroySubtree: expensive(subtreeDeletion(context, callTogether)),
    },
    [
      {
        schema: ApplyResourcesRequestSchema,
        fields: {},
        bounds: { resources: { maxItems: applyLimits.requestResources } },
      },
      // The requests of the methods are checked, which name the same fields.
      { schema: ResourceSpecSchema, fields: {}, isCheckedByHandler: true },
    ],
  );
}

function checkBounds({ resources, pruneKinds, prune }: ApplyResourcesRequest): void {
  if (resources.length > applyLimits.requestResources)
    throw invalidField(
      "resources",
      `has ${resources.length} items, and must not have more than ${applyLimits.requestResources}`,
    );
  if (pruneKinds.length > 0 && !prune) throw invalidField("prune_kinds", "must be empty without prune");
}

function responseOf({ groupUid }: ApplyResourcesRequest, plan: Plan) {
  return {
    groupUid: groupUid || (plan.names.find("group", "")?.uid ?? ""),
    changes: changesOf(plan),
    unchangedCount: plan.unchangedCount,
    plan: plan.fingerprint,
  };
}

async function exportResources(session: Session, { groupUid, kinds: asked }: ExportResourcesRequest, call: Call) {
  const wanted = asked.flatMap((kind) => kindOf(kind) ?? []);
  const shown = new Set<KindName>(wanted.length > 0 ? wanted : kindOrder);
  const rows = await readStoredRows(session, groupUid, withReferences(shown), call);
  const names = await Names.of(rows, targetKinds);
  requireUnambiguous(names);
  const found = (await storedResources(rows, names)).filter(
    ({ resource, outside }) => outside === "" && shown.has(resource.case),
  );
  if (found.length > applyLimits.storedResources)
    throw failedPrecondition(
      "TOO_MANY_RESOURCES",
      `the group has more than ${applyLimits.storedResources} resources`,
      groupUid,
    );
  return kindOrder.flatMap((kind) =>
    inNameOrder(
      found.filter(({ resource }) => resource.case === kind),
      names,
    ),
  );
}

/** The order of uids differs between servers, that of a locale between machines: files of equal organizations must be equal. */
function inNameOrder(resources: readonly StoredResource[], names: Names) {
  return resources
    .map(({ resource }) => nameOf(resource, names))
    .sort((a, b) => compareTexts(a.group, b.group) || compareTexts(a.name, b.name))
    .map(({ resource }) => ({ resource }));
}

/** Throws INVALID_ARGUMENT with what the resources get wrong, unless that depends on stored resources. */
async function checkRequests(resources: readonly ResourceSpec[], check: RequestCheck): Promise<void> {
  const violations = newViolations();
  for (const [index, { resource }] of resources.entries()) {
    await nextSlice();
    if (resource.case === undefined) continue;
    const { field, file } = kindNamed(resource.case);
    const named = (file.check?.(resource.value) ?? []).map((each) => ({
      ...each,
      field: `resources[${index}].${field}.${each.field}`,
    }));
    violations.addAll(named);
    const { method, request } = creation(resource, anyUids);
    try {
      check(method, request);
    } catch (error) {
      const described = describeFailure(error, { resource, name: "", wanted: { index } });
      if (!(described instanceof ApiError)) throw described;
      // Fields that the form has already rejected are not reported twice.
      const found = new Set(named.map((each) => baseOf(each.field)));
      violations.addAll((fieldViolationsOf(described) ?? []).filter((each) => !found.has(baseOf(each.field))));
    }
  }
  violations.throwIfAny();
}

/** Returns the path of a field without the place in a list at its end. */
function baseOf(field: string): string {
  return field.replace(/\[\d+\]$/, "");
}
