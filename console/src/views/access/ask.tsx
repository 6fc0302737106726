// One question: may this identity do this at that group?

import { useQuery } from "@connectrpc/connect-query";
import { AccessService } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import { CapabilityPicker } from "../../shell/capability-picker.tsx";
import filterStyles from "../../shell/filters.module.css";
import { Verdict } from "../../shell/look.tsx";
import { CopyAs, Loading } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import previewStyles from "../../shell/preview.module.css";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAccessAddress } from "./use-address.ts";
import { Reason } from "./why.tsx";

const { explainAccess } = AccessService.method;

/** Asks, and shows the answer in a sentence. */
export function Ask() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, group, search, ask } = useAccessAddress();
  const { capability = "" } = search;
  const identity = search.identity ?? me?.subject ?? "";
  const request = { identity, group, capability };
  const { data, error } = useQuery(explainAccess, request, { enabled: capability !== "" && identity !== "" });
  const named = useNamed([identity, group]);
  const [who, place] = [named(identity), named(group)];
  return (
    <div className="stack">
      <div className={filterStyles.filters}>
        <Picker
          kind="identity"
          label={t("access.identity")}
          within={org}
          value={identity}
          onChange={(uid) => void ask({ identity: uid || undefined })}
        />
        <CapabilityPicker value={capability} onChange={(name) => void ask({ capability: name || undefined })} />
        <Picker
          kind="group"
          label={t("access.group")}
          within={org}
          value={group}
          onChange={(uid) => void ask({ group: uid || undefined })}
        />
        <div className="grow" />
        {capability !== "" && <CopyAs method={explainAccess} request={request} />}
      </div>
      {capability === "" && <p className="muted">{t("access.choose")}</p>}
      {error && <Failure error={error} />}
      {capability !== "" && !data && !error && <Loading lines={2} />}
      {data && (
        <div className={data.granted ? "notice" : "notice warn"} role="status">
          <h2>
            <Verdict isGood={data.granted}>
              {t(data.granted ? "access.granted" : "access.denied", { who, capability, place })}
            </Verdict>
          </h2>
          <div className={previewStyles.effect}>
            <Reason answer={data} group={group} />
          </div>
        </div>
      )}
    </div>
  );
}
