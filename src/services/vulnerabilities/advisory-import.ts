import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  AdvisoryImportService,
  ImportAdvisoriesRequestSchema,
  type ImportedAdvisory,
  ImportedAdvisorySchema,
  ImportOutcome,
  type ImportResultSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/advisory_import_pb.ts";
import {
  ApiError,
  type FieldViolation,
  fieldViolationsOf,
  invalidArgument,
  invalidField,
  notFound,
} from "../../aip/errors.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import type { Call } from "../../pipeline/call.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { type MessageRules, ruleBook } from "../../pipeline/rule-book.ts";
import { compileResourceCheck } from "../../pipeline/validate.ts";
import { type Deps, writeContext } from "../../resource/deps.ts";
import { findRow } from "../../storage/collection.ts";
import { ReferenceViolation, UniqueViolation } from "../../storage/errors.ts";
import type { Transaction } from "../../storage/session.ts";
import { groupParents } from "../iam/groups.ts";
import { groupCollection } from "../iam/rows.ts";
import { checkAliases, sourceIdRule } from "./advisory-fields.ts";
import { checkEvents, contentOf, isTime, timeRule } from "./event-content.ts";
import { type ImportItem, type ImportPlan, planImport } from "./import-plan.ts";
import { advisoryLimits } from "./limits.ts";

/** One advisory that is wrong must not refuse the others, so each is checked by itself. */
const rules: MessageRules = {
  schema: ImportedAdvisorySchema,
  fields: { advisory_id: sourceIdRule("advisory_id"), part_of: sourceIdRule("part_of") },
  isCheckedByHandler: true,
};

const requestRules: MessageRules = {
  schema: ImportAdvisoriesRequestSchema,
  fields: {},
  bounds: { advisories: { maxItems: advisoryLimits.importItems } },
};

const checkMessage = compileResourceCheck(ImportedAdvisorySchema, ruleBook([{ rules: [rules] }]));

/** Serves the import of advisories. */
export function advisoryImport(deps: Deps): Implementation {
  const { database, clock } = deps;

  async function carryOut(parent: string, item: ImportItem, call: Call): Promise<ImportPlan> {
    return await database.write(writeContext(call, clock), (tx) => apply(tx, parent, item));
  }

  async function importOne(parent: string, advisory: ImportedAdvisory, call: Call) {
    return await resultOf(advisory, async () => {
      const item = itemOf(advisory, clock());
      return await carryOut(parent, item, call).catch(async (error: unknown) => {
        // Somebody else was quicker to add it, so that now it is there.
        if (error instanceof UniqueViolation) return await carryOut(parent, item, call);
        throw error;
      });
    });
  }

  /** Imports one after the other and undoes all of it, so that each finds what those before it would have left. */
  async function rehearse(parent: string, advisories: readonly ImportedAdvisory[], call: Call): Promise<Result[]> {
    const undone = new Error("a dry run leaves nothing");
    let results: Result[] = [];
    try {
      await database.write(writeContext(call, clock), async (tx) => {
        results = [];
        for (const advisory of advisories)
          results.push(await resultOf(advisory, () => apply(tx, parent, itemOf(advisory, clock()))));
        throw undone;
      });
    } catch (error) {
      if (error !== undone) throw error;
    }
    return results;
  }

  return implement(
    AdvisoryImportService,
    {
      async importAdvisories({ parent, advisories, dryRun }, call) {
        const { importItems, importAtOnce } = advisoryLimits;
        if (advisories.length > importItems)
          throw invalidField("advisories", `must not have more than ${importItems} items`);
        if (!(await findRow(database.session, groupCollection, parent))) throw notFound(groupParents.type, parent);
        if (dryRun) return { results: await rehearse(parent, advisories, call) };
        const results: Result[] = [];
        for (let i = 0; i < advisories.length; i += importAtOnce) {
          const some = advisories.slice(i, i + importAtOnce);
          results.push(...(await Promise.all(some.map((each) => importOne(parent, each, call)))));
        }
        return { results };
      },
    },
    [rules, requestRules],
  );
}

type Result = MessageInitShape<typeof ImportResultSchema>;

async function apply(tx: Transaction, parent: string, item: ImportItem): Promise<ImportPlan> {
  const plan = await planImport(tx, parent, item, tx.context.time);
  await plan.apply(tx);
  return plan;
}

/** What became of an advisory, or why nothing did. */
async function resultOf({ advisoryId }: ImportedAdvisory, work: () => Promise<ImportPlan>): Promise<Result> {
  try {
    const { outcome, uid } = await work();
    return { advisoryId, outcome: ImportOutcome[outcome], uid };
  } catch (error) {
    return { advisoryId, outcome: ImportOutcome.FAILED, error: reasonOf(error) };
  }
}

/** What a message says. Throws when something is wrong with it. */
function itemOf(advisory: ImportedAdvisory, now: number): ImportItem {
  const events = advisory.events.map(contentOf);
  const found: FieldViolation[] = [...checkMessage(advisory, undefined, { now, createTime: now })];
  found.push(...checkAliases(advisory.aliases));
  const [createTime, modifyTime, withdrawTime] = [
    timeOf(advisory.createTime),
    timeOf(advisory.modifyTime),
    timeOf(advisory.withdrawTime),
  ];
  const times = { create_time: createTime, modify_time: modifyTime, withdraw_time: withdrawTime };
  for (const [field, value] of Object.entries(times))
    if (value !== undefined && !isTime(value)) found.push({ field, description: timeRule });
  found.push(...checkEvents(events, ["author"]));
  if (found.length > 0) throw invalidArgument(found);
  const { author, artifactName, artifactType, artifactArchitecture, aliases } = advisory;
  const { componentName, componentType, componentLocation } = advisory;
  return {
    name: advisory.advisoryId,
    fields: {
      ...{ author, artifactName, artifactType, artifactArchitecture, aliases },
      ...{ componentName, componentType, componentLocation },
      severities: advisory.severities.map(({ type, score }) => ({ type, score })),
      origin: advisory.origin || artifactName,
    },
    events,
    createTime,
    modifyTime,
    withdrawTime,
    partOf: advisory.partOf,
    parts: advisory.parts?.advisoryIds,
  };
}

function timeOf(timestamp: Timestamp | undefined): number | undefined {
  return timestamp && fromTimestamp(timestamp);
}

/** How many violations one reason tells of. */
const toldViolations = 3;

/** Why an advisory cannot be imported, for whoever reads the report. What is no fault of the advisory is thrown on. */
function reasonOf(error: unknown): string {
  if (error instanceof ReferenceViolation) return "its group is being deleted";
  if (!(error instanceof ApiError)) throw error;
  const told = fieldViolationsOf(error)?.slice(0, toldViolations);
  return told ? told.map(({ field, description }) => `${field}: ${description}`).join("; ") : error.message;
}
