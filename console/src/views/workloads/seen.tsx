import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { dayMs } from "../../api/durations.ts";
import { Pill } from "../../shell/look.tsx";
import { Ago } from "../../shell/parts.tsx";
import { useTexts } from "../../texts/texts.ts";
import { keysEndOf, wasUsed } from "./identity-facts.ts";
import { endsSoonDays } from "./workload-filters.tsx";

interface OfIdentity {
  readonly identity: Identity;
}

/** Tells when an identity was seen last, and whether its keys end soon. */
export function Seen(props: OfIdentity) {
  return (
    <div className="lines">
      <LastSeen {...props} />
      <KeysEnd {...props} />
    </div>
  );
}

/** Tells when an identity was seen last. */
export function LastSeen({ identity }: OfIdentity) {
  const { t } = useTexts();
  const { lastSeenTime } = identity;
  if (lastSeenTime && wasUsed(identity)) return <Ago time={timestampDate(lastSeenTime)} />;
  return (
    <Pill tone="medium" icon="alert">
      {t("identities.never")}
    </Pill>
  );
}

/** Says that the keys of an identity have ended or end soon; nothing otherwise. */
export function KeysEnd({ identity }: OfIdentity) {
  const { t } = useTexts();
  const end = keysEndOf(identity);
  const leftMs = end ? end.getTime() - Date.now() : Number.POSITIVE_INFINITY;
  if (!end || leftMs >= endsSoonDays * dayMs) return null;
  return (
    <Pill tone={leftMs < 0 ? "critical" : "medium"} icon={leftMs < 0 ? "x-circle-fill" : "clock"}>
      {t(leftMs < 0 ? "identities.keyEnded" : "identities.keyEnds")} <Ago time={end} />
    </Pill>
  );
}
