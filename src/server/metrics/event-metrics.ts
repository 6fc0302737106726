// The metrics of event delivery: attempts, and the events that wait.
import { boundedReading } from "../../base/bounded-reading.ts";
import type { Clock } from "../../base/clock.ts";
import type { EventDelivery } from "../../events/dispatcher.ts";
import type { Metrics } from "../../observe/metrics.ts";
import { readChangeHeads } from "../../storage/change-log/change-log.ts";
import type { Database } from "../../storage/database.ts";
import type { Session } from "../../storage/engine/session.ts";
import { countDeliveries, oldestEventTime } from "../../storage/events/queue-figures.ts";
import { hasSubscriptions, readEventPosition } from "../../storage/events/subscribers.ts";
import { limits } from "../limits.ts";

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
  const ageOf = (time: number | undefined) => Math.max(0, (clock() - (time ?? clock())) / 1000);
  metrics.gauge(
    {
      name: "gatehouse_event_queue_age_seconds",
      help: "Age of the oldest event that a subscription has not received; 0 if there is none.",
      combined: "max",
    },
    async () => {
      const queue = delivery && (await readQueue());
      return queue && Math.max(ageOf(queue.oldest), ageOf(queue.unread));
    },
  );
  metrics.gauge(
    {
      name: "gatehouse_event_dispatch_lag_seconds",
      help: "Age of the oldest change that the dispatcher has not read; 0 if there is none.",
      combined: "max",
    },
    async () => {
      const queue = delivery && (await readQueue());
      return queue && ageOf(queue.unread);
    },
  );
}

/** The backlog of event deliveries. Times are in milliseconds since the epoch. */
interface EventQueue {
  readonly deliveries: number;
  /** When the oldest event in a queue happened. */
  readonly oldest: number | undefined;
  /** The time of the oldest change that the dispatcher has not read: if it does not run, the queues stay empty. */
  readonly unread: number | undefined;
}

async function queueOf(session: Session): Promise<EventQueue> {
  const deliveries = await countDeliveries(session, limits.countedDeliveries);
  const oldest = await oldestEventTime(session);
  // Without subscriptions the dispatcher has nothing to read.
  const [unread] = (await hasSubscriptions(session))
    ? await readChangeHeads(session, await readEventPosition(session), 1)
    : [];
  return { deliveries, oldest, unread: unread?.time };
}
