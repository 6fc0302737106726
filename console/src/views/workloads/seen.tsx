import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { dayMs } from "../../api/durations.ts";
import { Pill } from "../../shell/look.tsx";
import { Ago } from "../../shell/parts.tsx";
import { useTexts } from "../../texts/texts.ts";
import { keysEndOf, wasUsed } from "./identity-facts.ts";
import { endsSoonDays } from "./workload-filters.tsx";

/** Tells when an identity was seen last, and whether its keys end soon. */
export function Seen({ identity }: { readonly identity: Identity }) {
  const { t } = useTexts();
  const { lastSeenTime } = identity;
  const end = keysEndOf(identity);
  const leftMs = end ? end.getTime() - Date.now() : Number.POSITIVE_INFINITY;
  return (
    <div className="lines">
      {lastSeenTime && wasUsed(identity) ? (
        <Ago time={timestampDate(lastSeenTime)} />
      ) : (
        <Pill tone="medium" icon="alert">
          {t("identities.never")}
        </Pill>
      )}
      {end && leftMs < endsSoonDays * dayMs && (
        <Pill tone={leftMs < 0 ? "critical" : "medium"} icon={leftMs < 0 ? "x-circle-fill" : "clock"}>
          {t(leftMs < 0 ? "identities.keyEnded" : "identities.keyEnds")} <Ago time={end} />
        </Pill>
      )}
    </div>
  );
}
