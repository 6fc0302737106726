// The state of a delivery queue, as an icon and words.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { DeliveryState } from "../../../../gen/gatehouse/events/v1/delivery_pb.ts";
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
  if (state.inactivity !== "") return <span className="warning">⊘ {t("events.inactive")}</span>;
  if (state.stopped) return <span className="danger">✕ {t("events.stopped")}</span>;
  if (state.failedAttempts > 0)
    return (
      <span className="lines">
        <span className="danger">✕ {t("events.failing", { count: state.failedAttempts })}</span>
        <span className="muted small">{state.lastFailure}</span>
      </span>
    );
  if (latest?.dropped) return <span className="warning">! {t("events.lastDropped")}</span>;
  if (state.waiting > 0) return <span>◌ {t("events.delivering")}</span>;
  if (!latest?.startTime) return <span className="muted">– {t("events.nothingYet")}</span>;
  return (
    <span className="good">
      ✓ {t("events.delivered")} <Ago time={timestampDate(latest.startTime)} />
    </span>
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
