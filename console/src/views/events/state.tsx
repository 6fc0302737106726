// The state of a delivery queue, as an icon and words.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { DeliveryState } from "../../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { Pill } from "../../shell/look.tsx";
import { Ago } from "../../shell/parts.tsx";
import { useTexts } from "../../texts/texts.ts";

/** How often queues are read, in milliseconds. They are not in the change log, which views follow otherwise. */
export const refetchInterval = 3000;

/** The server counts up to this number of waiting events. */
const maxCounted = 1000;

/** Says whether events arrive, and why they do not. */
export function State({ state }: { readonly state: DeliveryState }) {
  const { t } = useTexts();
  const [latest] = state.recentAttempts;
  if (state.inactivity !== "")
    return (
      <Pill tone="medium" icon="blocked">
        {t("events.inactive")}
      </Pill>
    );
  if (state.settings?.paused)
    return (
      <Pill tone="medium" icon="clock">
        {t("events.paused")}
      </Pill>
    );
  if (state.stopped)
    return (
      <Pill tone="critical" icon="x-circle-fill">
        {t("events.stopped")}
      </Pill>
    );
  if (state.failedAttempts > 0)
    return (
      <span className="lines">
        <Pill tone="critical" icon="x-circle-fill">
          {t("events.failing", { count: state.failedAttempts })}
        </Pill>
        <span className="muted small">{state.lastFailure}</span>
      </span>
    );
  if (latest?.dropped)
    return (
      <Pill tone="medium" icon="alert">
        {t("events.lastDropped")}
      </Pill>
    );
  if (state.waiting > 0) return <span>◌ {t("events.delivering")}</span>;
  if (!latest?.startTime) return <span className="muted">– {t("events.nothingYet")}</span>;
  return (
    <Pill tone="good" icon="check-circle-fill">
      {t("events.delivered")} <Ago time={timestampDate(latest.startTime)} />
    </Pill>
  );
}

/** The number of waiting events. */
export function Waiting({ count }: { readonly count: number }) {
  const { t } = useTexts();
  return <>{t(count >= maxCounted ? "events.waitingMany" : "events.waitingCount", { count })}</>;
}

/** When the next attempt is due. */
export function NextTry({ time }: { readonly time: Timestamp }) {
  // An attempt that is due has begun, or begins within half a second.
  return <Ago time={new Date(Math.max(timestampDate(time).getTime(), Date.now()))} />;
}
