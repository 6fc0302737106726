// Puts the delivery of an event into the trace of the call that caused it.
import { readTraceParent } from "../base/traceparent.ts";
import { tracing } from "../base/tracing.ts";
import { rootOf } from "../model/uid.ts";
import type { CloudEvent } from "./cloud-event.ts";

/**
 * Runs a delivery in a span. Its trace is sampled if that of the call was: both decide by the trace id, which is the request id. The
 * request to the sink then has a `traceparent` of this span instead of that of the event, which says that nothing is recorded.
 */
export async function inTraceOf<T extends { readonly outcome: string }>(
  { headers }: CloudEvent,
  groupUid: string,
  deliver: () => Promise<T>,
): Promise<T> {
  const traces = tracing();
  const requestId = readTraceParent(headers.traceparent)?.traceId;
  const header = () => undefined;
  if (requestId === undefined || !traces?.isSampled({ requestId, header })) return await deliver();
  let outcome = "";
  const describe = () => ({
    // The sink is responsible for its failures.
    isFailure: false,
    attributes: {
      // https://opentelemetry.io/docs/specs/semconv/cloudevents/cloudevents-spans/
      "cloudevents.event_id": headers["ce-id"] ?? "",
      "cloudevents.event_type": headers["ce-type"] ?? "",
      "gatehouse.organization": rootOf(groupUid),
      "gatehouse.outcome": outcome,
    },
  });
  const span = { name: "deliver event", requestId, isBackground: true, header, describe };
  return await traces.call(span, async () => {
    const attempt = await deliver();
    outcome = attempt.outcome;
    return attempt;
  });
}
