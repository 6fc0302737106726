// The methods by which advisories are maintained. The published contract has them in version 1 only.
import { type FieldViolation, invalidArgument, notFound } from "../../../aip/errors.ts";
import type { Call } from "../../../pipeline/call.ts";
import { mapUniqueViolation } from "../../../resource/already-exists.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { type AdvisoryEventRow, findAdvisoryEvents } from "../../../storage/vulnerabilities/advisories.ts";
import { advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { type AdvisoryFields, checkAliases, publicIdRule } from "./advisory-fields.ts";
import { type AdvisoryState, advisoryType } from "./advisory-state.ts";
import { checkEvent, checkEvents, type EventContent } from "./event-content.ts";
import {
  createAdvisory,
  createEvent,
  deleteAdvisory,
  type NewAdvisory,
  taken,
  updateAdvisory,
  updateEvent,
} from "./write-advisory.ts";

/** Returns the functions by which version 1 writes advisories. The caller is authorized already. Violations have current names. */
export function advisoryAuthoring(context: ServiceContext) {
  const write = <T>(call: Call, body: (tx: Transaction) => Promise<T>) =>
    context.database.write(writeContext(call, context.clock), body);

  return {
    async create(parent: string, advisory: NewAdvisory, call: Call): Promise<AdvisoryState> {
      throwIfAny(checkNew(advisory));
      return await mapUniqueViolation(
        () => taken(advisory.advisoryId),
        () => write(call, (tx) => createAdvisory(tx, parent, advisory)),
      );
    },

    async update(uid: string, fields: AdvisoryFields, call: Call): Promise<AdvisoryState> {
      throwIfAny(checkAliases(fields.aliases));
      return await write(call, (tx) => updateAdvisory(tx, uid, fields));
    },

    delete: (uid: string, call: Call): Promise<void> => write(call, (tx) => deleteAdvisory(tx, uid)),

    async createEvent(advisoryUid: string, content: EventContent, call: Call): Promise<AdvisoryEventRow> {
      throwIfAny(checkEvent(content));
      return await write(call, (tx) => createEvent(tx, advisoryUid, content));
    },

    async updateEvent(uid: string, content: EventContent, call: Call): Promise<AdvisoryEventRow> {
      throwIfAny(checkEvent(content));
      return await write(call, (tx) => updateEvent(tx, uid, content));
    },

    listEvents: (advisoryUid: string): Promise<AdvisoryEventRow[]> =>
      context.database.read(async (session) => {
        if (!(await findRow(session, advisoryCollection, advisoryUid))) throw notFound(advisoryType, advisoryUid);
        return await findAdvisoryEvents(session, [advisoryUid]);
      }),
  };
}

function checkNew({ aliases, advisoryId, events }: NewAdvisory): FieldViolation[] {
  const isPublicId = advisoryId === "" || publicIdRule.test(advisoryId);
  return [
    ...checkAliases(aliases),
    ...(isPublicId ? [] : [{ field: "advisory_id", description: publicIdRule.description }]),
    ...checkEvents(events),
  ];
}

function throwIfAny(found: readonly FieldViolation[]): void {
  if (found.length > 0) throw invalidArgument(found);
}
