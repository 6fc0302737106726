import { setImmediate as nextTick } from "node:timers/promises";
import type { Message } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  ImportResourcesRequestSchema,
  OrganizationImportService,
  type OrganizationResource,
  OrganizationResourceSchema,
} from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { invalidField } from "../../aip/errors.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import { isBelow, isUid, parentOf } from "../../model/uid.ts";
import { accessOf, scopeOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { ruleBook, uidRule } from "../../pipeline/text-rules.ts";
import { compileResourceCheck } from "../../pipeline/validate.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import { UniqueViolation } from "../../storage/engine/errors.ts";
import { settingsImport } from "../deliveries/settings-import.ts";
import { noEnd, requireLastingCall } from "../iam/rules/escalation.ts";
import {
  type ImportContext,
  type Importer,
  type Problem,
  problemsIn,
  type Result,
  rejected,
} from "../kinds/import-kind.ts";
import { requireUnlimited } from "../operator-call.ts";
import { transfers } from "../resources.ts";
import { toImporter } from "./importer.ts";

/** The maximum number of resources in a request. */
const maxResources = 500;

/** How far times may be in the future, in milliseconds: clocks differ. */
const maxAheadMs = 5 * 60_000;

type Kind = NonNullable<OrganizationResource["resource"]["case"]>;
type AnyMessage = Message & {
  readonly uid: string;
  readonly createTime?: Timestamp;
  readonly updateTime?: Timestamp;
};

/** All that moves with an organization. The rules of settings name the kinds of all resources. */
export const allTransfers = [...transfers, settingsImport];

/** Serves the import of organizations. */
export function organizationImport(context: ImportContext): Implementation {
  const importers = importersOf(context);
  const check = resourceCheck(importers, context);

  const importOne = resourceWriter(context);

  return implement(
    OrganizationImportService,
    {
      async importResources({ organizationUid, resources, validateOnly, acceptVerified }, call) {
        requireUnlimited(call, "import an organization");
        requireLastingOperator(call);
        if (organizationUid.includes("/"))
          throw invalidField("organization_uid", "must be the uid of an organization (a root group)");
        if (resources.length > maxResources)
          throw invalidField("resources", `has ${resources.length} items, and must not have more than ${maxResources}`);
        const place = { call, isDryRun: validateOnly, acceptsVerified: acceptVerified };
        const started = new Map<string, Promise<unknown>>();
        const results: Promise<Result>[] = [];
        for (const { resource } of resources) {
          const problems = await check(resource, organizationUid);
          if (problems.length > 0 || resource.case === undefined) {
            results.push(Promise.resolve(rejected(problems)));
            continue;
          }
          const importer = importers[resource.case];
          const { value } = resource;
          // It may refer to resources before it in the request, so it waits until they are stored.
          const uids = [value.uid, parentOf(value.uid), ...importer.references(value as never)];
          const earlier = uids.map((uid) => started.get(uid));
          const result = Promise.all(earlier).then(() => importOne(importer, value as never, place));
          started.set(value.uid, result);
          results.push(result);
        }
        return { results: await Promise.all(results) };
      },
    },
    [
      {
        schema: ImportResourcesRequestSchema,
        fields: { organization_uid: uidRule },
        bounds: { resources: { maxItems: maxResources } },
      },
      // A resource that breaks a rule does not reject the others.
      { schema: OrganizationResourceSchema, fields: {}, isCheckedByHandler: true },
    ],
  );
}

/** Throws unless the caller is an operator without an end: what an import binds lasts. */
function requireLastingOperator(call: Call): void {
  const roots = scopeOf(call).filter((uid) => !uid.includes("/"));
  const lasting = accessOf(call).lasting(noEnd);
  requireLastingCall(call, roots.find((uid) => lasting.has(Capability.CAP_INTERNAL, uid)) ?? roots[0]!);
}

/** The options of a request, which apply to all its resources. */
interface Asked {
  readonly call: Call;
  readonly isDryRun: boolean;
  readonly acceptsVerified: boolean;
}

/** Returns the function that imports one resource, in a transaction of its own that shares its commit with others. */
function resourceWriter({ database, clock, settings }: ServiceContext) {
  return async (importer: Importer, message: never, { call, isDryRun, acceptsVerified }: Asked): Promise<Result> => {
    const place = { call, acceptsVerified, maxDepth: settings.maxDepth, time: clock(), isShared: false };
    const write = (isShared: boolean) =>
      database.write({ ...writeContext(call, clock), isBulk: true, isIndependent: isShared }, (tx) =>
        importer.run(tx, message, { ...place, tx, isShared }),
      );
    try {
      if (isDryRun) return (await importer.run(database.session, message, { ...place, tx: undefined }))!;
      if (importer.write) return await importer.write(message, call);
      return (await write(true).catch(exclusiveAfterClash)) ?? (await write(false))!;
    } catch (error) {
      return rejected(problemsIn(error));
    }
  };
}

/** Another write has inserted the row meanwhile: the resource is compared with it. */
function exclusiveAfterClash(error: unknown): undefined {
  if (!(error instanceof UniqueViolation)) throw error;
}

function importersOf(context: ImportContext): Readonly<Record<Kind, Importer>> {
  const importers = allTransfers.map(({ name, declare }) => [name, toImporter(declare(context))]);
  return Object.fromEntries(importers);
}

/** Returns the check of a resource that needs no database. */
function resourceCheck(importers: Readonly<Record<Kind, Importer>>, { clock }: ServiceContext) {
  const book = ruleBook([{ rules: Object.values(importers).flatMap(({ messageRules }) => messageRules) }]);
  const checks = new Map(
    Object.values(importers).map(({ schema }) => [schema.typeName, compileResourceCheck(schema, book)]),
  );
  let checked = 0;
  return async (
    { case: kind, value }: OrganizationResource["resource"],
    organizationUid: string,
  ): Promise<readonly Problem[]> => {
    if (kind === undefined) return [{ field: "resource", description: "is required" }];
    // Hundreds of key sets and patterns in a row must not block other requests.
    if (++checked % 50 === 0) await nextTick();
    const now = clock();
    const message = value as AnyMessage;
    const importer = importers[kind];
    const own = [...checkUid(importer, message.uid, organizationUid), ...checkTimes(message, now)];
    if (own.length > 0) return own;
    // Values that were valid at creation may be imported, such as expired keys.
    const createTime = message.createTime ? fromTimestamp(message.createTime) : now;
    const found = checks.get(message.$typeName)!(message, undefined, { now: createTime, createTime });
    const problems = found.filter((violation) => !importer.isExcused?.(value as never, violation));
    if (problems.length > 0) return problems;
    return (await importer.check?.(value as never)) ?? [];
  };
}

function checkUid({ isOfGroup }: Importer, uid: string, organizationUid: string): Problem[] {
  if ((isOfGroup && uid === organizationUid) || (isUid(uid) && isBelow(uid, organizationUid))) return [];
  return [{ field: "uid", description: `must be a uid below that of the organization, ${organizationUid}` }];
}

function checkTimes({ createTime, updateTime }: AnyMessage, now: number): Problem[] {
  return Object.entries({ create_time: createTime, update_time: updateTime }).flatMap(([field, time]) => {
    if (!time) return [];
    const ms = fromTimestamp(time);
    return ms >= 0 && ms <= now + maxAheadMs
      ? []
      : [{ field, description: "must be a time since 1970 that is not in the future" }];
  });
}
