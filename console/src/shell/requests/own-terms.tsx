// The roles of the caller that end: until when, the way to give one back, and a timer that refreshes the page when one begins or ends.
// Load the texts `requests` with it.
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import { AccessService, type BindingExplanation } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { AccessRequestState } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { refreshMe, useMe } from "../../api/access.ts";
import { dayMs, minuteMs } from "../../api/durations.ts";
import { groupText } from "../../api/naming.ts";
import { queryClient } from "../../api/transport.ts";
import { agoText, timeText, useTexts } from "../../texts/texts.ts";
import { Icon } from "../icon.tsx";
import { lazyPart } from "../lazy-part.tsx";
import { ActionButton } from "../parts.tsx";
import { useMyRequests } from "./my-requests.ts";
import styles from "./own-terms.module.css";
import type { RequestPreset } from "./request-dialog.tsx";

const GiveBack = lazyPart(async () => (await import("./give-back.tsx")).GiveBack);
const RequestDialog = lazyPart(async () => (await import("./request-dialog.tsx")).RequestDialog);

const { whatCan } = AccessService.method;

/** How many role bindings of the caller are read. */
const pageSize = 200;

/** A role of the caller that ends. */
interface OwnTerm {
  readonly binding: BindingExplanation;
  readonly endMs: number;
}

/** Returns the roles of the caller that have begun and end, the next end first, and refreshes the page at each begin and end. */
export function useOwnTerms(): readonly OwnTerm[] {
  const { data: me } = useMe();
  const identity = me?.subject ?? "";
  const { data } = useQuery(
    whatCan,
    { identity, pageSize },
    { enabled: identity !== "", staleTime: minuteMs, refetchInterval: minuteMs },
  );
  const bindings = (data?.roles ?? []).flatMap(({ binding }) => binding ?? []);
  const now = useRefresh(bindings.flatMap(({ startTime, expireTime }) => [startTime, expireTime]));
  return bindings
    .flatMap((binding) => (binding.expireTime ? [{ binding, endMs: timestampMs(binding.expireTime) }] : []))
    .filter(({ binding, endMs }) => endMs > now && !(binding.startTime && timestampMs(binding.startTime) > now))
    .sort((a, b) => a.endMs - b.endMs);
}

/** How long after a begin or an end the page is read again, in milliseconds: the clocks of the browser and the server differ a little. */
const afterMs = 500;

/** How often the times that are shown are written again, in milliseconds. */
const tickMs = 15_000;

/** Reads everything again right after the next of some times: the caller may do more or less then. Returns the time now. */
function useRefresh(times: readonly (Timestamp | undefined)[]): number {
  const [now, setNow] = useState(Date.now);
  const next = Math.min(...times.flatMap((time) => (time && timestampMs(time) > now ? [timestampMs(time)] : [])));
  useEffect(() => {
    const dueMs = next + afterMs - Date.now();
    if (dueMs === Number.POSITIVE_INFINITY) return;
    const isDue = dueMs <= tickMs;
    const timer = setTimeout(
      () => {
        setNow(Date.now());
        if (isDue) void refreshMe().then(() => queryClient.invalidateQueries());
      },
      Math.max(0, Math.min(dueMs, tickMs)),
    );
    return () => clearTimeout(timer);
  }, [next, now]);
  return now;
}

/** How long before its end a role is in the banner, and can be requested again, in milliseconds. */
const [shownMs, againMs] = [7 * dayMs, 15 * minuteMs];

/** How many roles the banner shows. */
const maxShown = 3;

/** The banner above all views. Nothing without a role that ends soon. */
export function OwnTerms() {
  const { t } = useTexts();
  const terms = useOwnTerms().filter(({ endMs }) => endMs - Date.now() < shownMs);
  const [returned, setReturned] = useState<BindingExplanation>();
  const [requested, setRequested] = useState<RequestPreset>();
  return (
    <>
      {terms.length > 0 && (
        <section className={styles.banner} aria-label={t("terms.title")}>
          {terms.slice(0, maxShown).map((term) => (
            <Line key={term.binding.roleBindingUid} term={term} onReturn={setReturned} onRequest={setRequested} />
          ))}
          {terms.length > maxShown && (
            <span className="muted small">{t("terms.more", { count: terms.length - maxShown })}</span>
          )}
        </section>
      )}
      {returned && <GiveBack binding={returned} onClose={() => setReturned(undefined)} />}
      {requested && <RequestDialog preset={requested} onClose={() => setRequested(undefined)} />}
    </>
  );
}

interface LineProps {
  readonly term: OwnTerm;
  readonly onReturn: (binding: BindingExplanation) => void;
  readonly onRequest: (preset: RequestPreset) => void;
}

function Line({ term: { binding, endMs }, onReturn, onRequest }: LineProps) {
  const { t, locale } = useTexts();
  const { data } = useMyRequests();
  const { roleBindingUid, roleUid, groupUid } = binding;
  const request = data?.requests.find(
    (one) => one.state === AccessRequestState.ACTIVE && one.roleBindingUid === roleBindingUid,
  );
  const isLate = endMs - Date.now() < againMs;
  const end = new Date(endMs);
  return (
    <div className={styles.line} data-late={isLate}>
      <Icon name="clock" />
      <span className="grow" title={timeText(end, locale)}>
        {t("terms.role", {
          role: binding.roleName || "…",
          group: groupText(t, binding.groupName),
          time: agoText(end, locale),
        })}
      </span>
      {isLate && request && (
        <ActionButton
          missing={[]}
          onClick={() => onRequest({ group: groupUid, role: roleUid, reason: request.reason })}
        >
          {t("terms.again")}
        </ActionButton>
      )}
      <ActionButton missing={[]} onClick={() => onReturn(binding)}>
        {t("terms.giveBack")}
      </ActionButton>
    </div>
  );
}
