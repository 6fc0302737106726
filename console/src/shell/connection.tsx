// Whether what the page shows is up to date: a dot in the bar at the top, and a banner once the server is gone.
import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { useMe } from "../api/access.ts";
import { useLiveTime } from "../api/live.ts";
import { isTemporary, queryClient } from "../api/transport.ts";
import { useTexts } from "../texts/texts.ts";
import styles from "./connection.module.css";

/** From which age, in milliseconds, the page says that it reconnects, and that the server is gone. It knows every three seconds. */
const reconnectingMs = 8_000;
const goneMs = 18_000;

type State = "unknown" | "live" | "reconnecting" | "gone";

/** Returns the state, and how old the page is in milliseconds. Time during which nobody saw the page does not count. */
function useConnection(): { readonly state: State; readonly ageMs: number } {
  const time = useLiveTime();
  const [now, setNow] = useState(Date.now);
  const [shownAt, setShownAt] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    const onShow = () => document.visibilityState === "visible" && setShownAt(Date.now());
    document.addEventListener("visibilitychange", onShow);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", onShow);
    };
  }, []);
  // Callers who may not read changes have no time: their calls tell.
  if (time === 0) return { state: "unknown", ageMs: 0 };
  const ageMs = Math.max(0, now - Math.max(time, shownAt));
  return { state: ageMs > goneMs ? "gone" : ageMs > reconnectingMs ? "reconnecting" : "live", ageMs };
}

const colors = { live: "good", reconnecting: "warning", gone: "danger" } as const;

/** The dot, with the time at which the page was up to date. */
export function Connection() {
  const { t, locale } = useTexts();
  const time = useLiveTime();
  const { state, ageMs } = useConnection();
  if (state === "unknown") return null;
  const text = new Intl.DateTimeFormat(locale, { timeStyle: "medium" }).format(time);
  const age = t("live.reconnecting", { seconds: Math.round(ageMs / 1000) });
  return (
    <span className={`${styles.live} small`} title={t("live.on", { time: text })} data-state={state}>
      <span className={colors[state]} aria-hidden="true">
        ●
      </span>{" "}
      <span className="hidden">{state === "live" ? t("live.on", { time: "" }) : age}</span>
      <span aria-hidden="true">{state === "live" ? text : age}</span>
    </span>
  );
}

/** The banner. What was typed stays; the page goes on by itself once the server responds. */
export function GoneBanner() {
  const { t } = useTexts();
  const { failureReason } = useMe();
  const { state } = useConnection();
  const hasFailed = Boolean(failureReason) && isTemporary(failureReason);
  if (state !== "gone" && !hasFailed) return null;
  return (
    <div className={`notice bad ${styles.banner}`} role="alert">
      <p>{t("state.offline")}</p>
      <Button variant="default" size="sm" onClick={() => void queryClient.invalidateQueries()}>
        {t("live.tryNow")}
      </Button>
    </div>
  );
}
