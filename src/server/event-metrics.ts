// The metrics of event delivery: attempts, and the events that wait.
import { boundedReading } from "../base/bounded-reading.ts";
import type { Clock } from "../base/clock.ts";
import type { EventDelivery } from "../events/dispatcher.ts";
import type { Metrics } from "../observe/metrics.ts";
import { readChangeHeads } from "../storage/change-log/change-log.ts";
import type { Database } from "../storage/database.ts";
import type { Session } from "../storage/engine/session.ts";
import { countDeliveries, oldestEventTime } from "../storage/events/delivery-queues.ts";
import { hasSubscriptions, readEventPosition } from "../storage/events/subscribers.ts";
import { limits } from "./limits.ts";

/** Registers the metrics of event delivery; without values if this server delivers none. */
export function measureEvents(
  metrics: Metrics,
  { session }: Pick<Database, "session">,
  clock: Clock,
  delivery: EventDelivery | undefined,
): void {
  metrics.counters(
    "gatehouse_event_deliveries_total",
    "Attempts to deliver an event to a subscription, and events that were given up.",
    "outcome",
    () => delivery?.counts ?? {},
  );
  const readQueue = boundedReading(() => queueOf(session), limits.expensiveMetrics);
  metrics.gauge(
    {
      name: "gatehouse_event_queue_deliveries",
      help: `Deliveries that wait in the queues of all subscriptions, ${limits.countedDeliveries} at most.`,
      combined: "max",
    },
    async () => (delivery ? (await readQueue())?.deliveries : undefined),
  );
  metrics.gauge(
    {
      name: "gatehouse_event_queue_age_seconds",
      help: "Age of the oldest event that a subscription has not received; 0 if there is none.",
      combined: "max",
    },
    async () => {
      const queue = delivery && (await readQueue());
      return queue && Math.max(0, (clock() - (queue.oldest ?? clock())) / 1000);
    },
  );
}

/** The deliveries that wait, and when the oldest event happened. */
async function queueOf(
  session: Session,
): Promise<{ readonly deliveries: number; readonly oldest: number | undefined }> {
  const deliveries = await countDeliveries(session, limits.countedDeliveries);
  const queued = await oldestEventTime(session);
  // What the dispatcher has not read yet waits too: a dispatcher that does not run leaves the queues empty.
  const [unread] = (await hasSubscriptions(session))
    ? await readChangeHeads(session, await readEventPosition(session), 1)
    : [];
  const times = [queued, unread?.time].filter((time) => time !== undefined);
  return { deliveries, oldest: times.length > 0 ? Math.min(...times) : undefined };
}
