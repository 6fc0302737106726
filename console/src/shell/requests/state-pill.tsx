// The state of an access request. Load the texts `requests` with it.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type AccessRequest, AccessRequestState } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import type { TextId } from "../../texts/catalogues.ts";
import { agoText, timeText, useTexts } from "../../texts/texts.ts";
import type { IconName } from "../icon.tsx";
import { Pill, type Tone } from "../look.tsx";

interface Look {
  readonly text: TextId;
  readonly tone: Tone;
  readonly icon: IconName;
}

const looks: Readonly<Record<number, Look>> = {
  [AccessRequestState.PENDING]: { text: "requests.state.pending", tone: "medium", icon: "clock" },
  [AccessRequestState.ACTIVE]: { text: "requests.state.active", tone: "good", icon: "check-circle-fill" },
  [AccessRequestState.DENIED]: { text: "requests.state.denied", tone: "critical", icon: "x-circle-fill" },
  [AccessRequestState.CANCELLED]: { text: "requests.state.cancelled", tone: "neutral", icon: "skip" },
  [AccessRequestState.EXPIRED]: { text: "requests.state.expired", tone: "neutral", icon: "clock" },
  [AccessRequestState.ENDED]: { text: "requests.state.ended", tone: "neutral", icon: "check" },
};

const unknown: Look = { text: "requests.state.unknown", tone: "neutral", icon: "question" };

/** Returns the word for a state. A newer server may have states that this page does not know. */
export function stateText(state: AccessRequestState): TextId {
  return (looks[state] ?? unknown).text;
}

/** The state as a pill, and when a pending request expires or an active one ends. */
export function RequestStatus({ request }: { readonly request: AccessRequest }) {
  const { t, locale } = useTexts();
  const { state, decideBeforeTime, expireTime, breakGlass, acknowledgement } = request;
  const { text, tone, icon } = looks[state] ?? unknown;
  const next = {
    [AccessRequestState.PENDING]: { text: "requests.expires", time: decideBeforeTime },
    [AccessRequestState.ACTIVE]: { text: "requests.ends", time: expireTime },
  }[state as number];
  const time = next?.time && timestampDate(next.time);
  return (
    <div className="lines">
      <Pill tone={tone} icon={icon}>
        {t(text)}
      </Pill>
      {breakGlass && (
        <span className={acknowledgement ? "muted small" : "warning small"}>
          {t(acknowledgement ? "requests.breakGlass.acknowledged" : "requests.breakGlass.open")}
        </span>
      )}
      {next && time && (
        <span className="muted small" title={timeText(time, locale)}>
          {t(next.text as TextId, { time: agoText(time, locale) })}
        </span>
      )}
    </div>
  );
}
