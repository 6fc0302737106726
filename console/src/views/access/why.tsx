// Why an identity may do something at a group, or not: one answer for each capability of an area.
import { useQuery } from "@connectrpc/connect-query";
import { AccessService, type ExplainAccessResponse } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { areas, capabilitiesOf, type NamedCapability } from "../../api/capabilities.ts";
import { useNames } from "../../api/resources.ts";
import { shortUid } from "../../api/uids.ts";
import { CopyAs, Loading } from "../../shell/parts.tsx";
import { SidePanel } from "../../shell/side-panel.tsx";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAccessAddress } from "./address.ts";
import { BindingLine } from "./binding-line.tsx";

const { batchExplainAccess } = AccessService.method;

/** The panel of the cell in the address. */
export function WhyPanel() {
  const { t } = useTexts();
  const { group, search, close } = useAccessAddress();
  const identity = search.cell ?? "";
  const area = areas.find((one) => one === search.area) ?? "other";
  const capabilities = capabilitiesOf(area);
  const request = { requests: capabilities.map(({ name }) => ({ identity, group, capability: name })) };
  const { data, error } = useQuery(batchExplainAccess, request, { enabled: capabilities.length > 0 });
  const who = useNames("identity", [identity]).get(identity) ?? shortUid(identity);
  const place = useNames("group", [group]).get(group) ?? shortUid(group);
  return (
    <SidePanel title={t("access.why", { who, area: t(`area.${area}`), place })} onClose={() => void close()}>
      <div className="stack">
        {error && <Failure error={error} />}
        {!data && !error && <Loading />}
        <ul className="list">
          {data?.responses.map((answer, index) => (
            <Answer key={capabilities[index]!.name} capability={capabilities[index]!} answer={answer} group={group} />
          ))}
        </ul>
        <div>
          <CopyAs method={batchExplainAccess} request={request} />
        </div>
      </div>
    </SidePanel>
  );
}

function Answer({
  capability,
  answer,
  group,
}: {
  readonly capability: NamedCapability;
  readonly answer: ExplainAccessResponse;
  readonly group: string;
}) {
  const { t } = useTexts();
  return (
    <li className="effect">
      <span>
        <span className={answer.granted ? "good" : "muted"}>
          {answer.granted ? `✓ ${t("access.yes")}` : `– ${t("access.no")}`}
        </span>{" "}
        <code>{capability.name}</code>
      </span>
      {capability.text !== undefined && <span className="muted">{t(capability.text)}</span>}
      <Reason answer={answer} group={group} />
    </li>
  );
}

/** The bindings that grant a capability, or why none does. */
export function Reason({ answer, group }: { readonly answer: ExplainAccessResponse; readonly group: string }) {
  const { t } = useTexts();
  const { granted, reason, granting, lacking } = answer;
  const bindings = granted ? granting : lacking;
  return (
    <>
      {!granted && <span>{t(`reason.${reason as 0 | 1 | 2 | 3 | 4 | 5}`)}</span>}
      {bindings.map((binding) => (
        <span key={binding.roleBindingUid || binding.groupUid}>
          {granted ? t("access.because") : t("access.lacks")} <BindingLine binding={binding} at={group} />
        </span>
      ))}
    </>
  );
}
