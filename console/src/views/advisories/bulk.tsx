// Actions on several advisories.
import { useState } from "react";
import { Advisories } from "../../../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";
import type { FoundAdvisory } from "../../../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { useMe } from "../../api/access.ts";
import type { BulkProps } from "../../shell/bulk.ts";
import { BulkDialog } from "../../shell/bulk-dialog.tsx";
import { useCall } from "../../shell/use-call.ts";
import { useTexts } from "../../texts/texts.ts";
import { eventOf, newDraft } from "./event-draft.ts";
import { EventFields } from "./event-form.tsx";

/** The dialog that records the same event of several advisories. */
export function AddEvents(props: BulkProps<FoundAdvisory>) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const [draft, setDraft] = useState(() => newDraft(me));
  const call = useCall(Advisories.method.createAdvisoryEvent);
  return (
    <BulkDialog
      {...props}
      title={(count) => t("bulk.events.title", { count })}
      button={t("bulk.events.button")}
      act={({ advisory }) => call({ parentId: advisory?.uid ?? "", advisoryEvent: eventOf(draft) })}
    >
      <EventFields draft={draft} errors={{}} onChange={setDraft} />
    </BulkDialog>
  );
}
