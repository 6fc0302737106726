// When a role binding begins and ends. Load the texts `access` with it.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { dayMs } from "../api/durations.ts";
import { agoText, timeText, useTexts } from "../texts/texts.ts";
import { Pill } from "./look.tsx";

/** The times of a role binding, as all messages have them. */
export interface Times {
  readonly startTime?: Timestamp | undefined;
  readonly expireTime?: Timestamp | undefined;
}

/** A pill with the next time, and both in its tooltip. Nothing for a role binding that has begun and has no end. */
export function TermPill({ startTime, expireTime }: Times) {
  const { t, locale } = useTexts();
  const now = Date.now();
  const [start, end] = [startTime, expireTime].map((time) => time && timestampDate(time));
  const isScheduled = start !== undefined && start.getTime() > now;
  if (!isScheduled && !end) return null;
  const title = [
    ...(isScheduled ? [t("access.begins", { time: timeText(start, locale) })] : []),
    ...(end ? [t("access.ends", { time: timeText(end, locale) })] : []),
  ].join(", ");
  if (isScheduled)
    return (
      <Pill tone="accent" icon="clock" title={title}>
        {t("access.begins", { time: agoText(start, locale) })}
      </Pill>
    );
  const leftMs = end!.getTime() - now;
  return (
    <Pill tone={leftMs < dayMs ? "medium" : "neutral"} icon="clock" title={title}>
      {leftMs > 0 ? t("access.ends", { time: agoText(end!, locale) }) : t("access.ended")}
    </Pill>
  );
}
