// Sends events of the latest attempts again.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type RedeliverRequest,
  type RedeliverResponseSchema,
  RedeliveryOutcome,
} from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { invalidField } from "../../aip/errors.ts";
import type { Call } from "../../pipeline/call.ts";
import { patternRule, uidRule } from "../../pipeline/text-rules.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import type { Transaction } from "../../storage/engine/session.ts";
import { findAttemptsOfEvents } from "../../storage/events/delivery-attempts.ts";
import type { StoredEvent } from "../../storage/events/delivery-queues.ts";
import { requeueEvent } from "../../storage/events/redelivery.ts";
import { lockSubscriptions } from "../../storage/events/subscribers.ts";
import type { Encryption } from "../../storage/installation/encryption.ts";
import { type RecordedRedelivery, redeliveryKind } from "../events/subscriptions/recorded.ts";
import { findSubscription } from "../events/subscriptions/subscriptions.ts";
import { readPayload } from "./attempts.ts";

/** The most events of one request. */
const maxEvents = 100;

const eventIdPattern = /^[0-9a-f-]{36}$/;

/** The rules of requests. */
export const redeliveryRules = {
  fields: { subscription_uid: uidRule, event_ids: patternRule("event_ids", eventIdPattern, eventIdPattern.source) },
  bounds: { event_ids: { maxItems: maxEvents } },
};

type Response = MessageInitShape<typeof RedeliverResponseSchema>;

/** Returns the method that redelivers events. A repeated call converges: what waits already is reported as such. */
export function redeliver({ database, clock, encryption }: ServiceContext & { readonly encryption: Encryption }) {
  return async ({ subscriptionUid: uid, eventIds }: RedeliverRequest, call: Call): Promise<Response> => {
    if (eventIds.length > maxEvents) throw invalidField("event_ids", `must not have more than ${maxEvents} items`);
    return await database.write(writeContext(call, clock), async (tx) => {
      await lockSubscriptions(tx, [uid]);
      const { parent } = await findSubscription(tx, uid);
      const stored = await findStoredEvents(tx, encryption, uid, eventIds);
      const redeliveries: { eventId: string; outcome: RedeliveryOutcome }[] = [];
      for (const eventId of eventIds) {
        const event = stored.get(eventId);
        redeliveries.push({ eventId, outcome: event ? await requeue(tx, event, uid) : RedeliveryOutcome.NOT_STORED });
      }
      const queued = redeliveries.filter(({ outcome }) => outcome === RedeliveryOutcome.QUEUED);
      const after: RecordedRedelivery = { eventIds: queued.map(({ eventId }) => eventId) };
      if (queued.length > 0) tx.logChange({ kind: redeliveryKind, uid, groupUid: parent, before: null, after });
      return { redeliveries };
    });
  };
}

async function requeue(tx: Transaction, event: Omit<StoredEvent, "time">, uid: string): Promise<RedeliveryOutcome> {
  return (await requeueEvent(tx, event, uid)) ? RedeliveryOutcome.QUEUED : RedeliveryOutcome.WAITING;
}

/** Returns the events of stored attempts that can be sent again, by their ids. Test events and bodies that were cut off cannot. */
async function findStoredEvents(
  tx: Transaction,
  encryption: Encryption,
  uid: string,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, Omit<StoredEvent, "time">>> {
  const found = new Map<string, Omit<StoredEvent, "time">>();
  for (const attempt of await findAttemptsOfEvents(tx, uid, eventIds)) {
    const { eventId, sequence } = attempt;
    if (sequence === null || found.has(eventId)) continue;
    const payload = readPayload(encryption, attempt);
    if (payload && !payload.request.isCut)
      found.set(eventId, { sequence, headers: payload.requestHeaders, data: payload.request.text });
  }
  return found;
}
