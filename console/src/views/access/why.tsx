// Why an identity may do something at a group, or not: the capabilities of an area, by the bindings that grant them.

import { useQuery } from "@connectrpc/connect-query";
import { AccessService, type ExplainAccessResponse } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { areas, capabilitiesOf, type NamedCapability } from "../../api/capabilities.ts";
import { useNamed } from "../../api/naming.ts";
import { BindingLine } from "../../shell/binding-line.tsx";
import { Verdict } from "../../shell/look.tsx";
import { CopyAs, Loading } from "../../shell/parts.tsx";
import { SidePanel } from "../../shell/side-panel.tsx";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAccessAddress } from "./use-address.ts";

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
  const named = useNamed([identity, group]);
  const [who, place] = [named(identity), named(group)];
  const values = { who, area: t(`area.${area}`), place };
  const held = data?.responses.filter(({ granted }) => granted).length ?? 0;
  return (
    <SidePanel title={t("access.why", values)} onClose={() => void close()}>
      <div className="stack">
        {error && <Failure error={error} />}
        {!data && !error && <Loading />}
        {data && <p>{t("access.sentence", { ...values, held, all: capabilities.length })}</p>}
        {data &&
          alike(data.responses).map(([answer, indexes]) => (
            <Answers
              key={indexes.join()}
              answer={answer}
              group={group}
              capabilities={indexes.map((i) => capabilities[i]!)}
            />
          ))}
        <div>
          <CopyAs method={batchExplainAccess} request={request} />
        </div>
      </div>
    </SidePanel>
  );
}

/** Puts answers with the same reason and the same bindings together, with their indexes. Granted ones come first. */
function alike(answers: readonly ExplainAccessResponse[]): (readonly [ExplainAccessResponse, number[]])[] {
  const groups = Map.groupBy(answers.keys(), (index) => {
    const { granted, reason, granting } = answers[index]!;
    const bindings = granting.map(({ roleBindingUid, groupUid }) => roleBindingUid || groupUid);
    return [granted ? 0 : 1, reason, ...bindings].join(" ");
  });
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, indexes]) => [answers[indexes[0]!]!, indexes] as const);
}

function Answers({
  answer,
  capabilities,
  group,
}: {
  readonly answer: ExplainAccessResponse;
  readonly capabilities: readonly NamedCapability[];
  readonly group: string;
}) {
  const { t } = useTexts();
  const { granted } = answer;
  return (
    <section className="card stack dense">
      <h3>
        {granted ? <Verdict isGood>{t("access.yes")}</Verdict> : <span className="muted">{t("access.no")}</span>} (
        {capabilities.length})
      </h3>
      <Reason answer={answer} group={group} />
      <ul className="list dense columns">
        {capabilities.map(({ name, text }) => (
          <li key={name}>
            <code>{name}</code>
            {text !== undefined && <span className="muted">{t(text)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The bindings that grant a capability, or why none does. */
export function Reason({ answer, group }: { readonly answer: ExplainAccessResponse; readonly group: string }) {
  const { t } = useTexts();
  const { granted, reason, granting, lacking } = answer;
  const bindings = granted ? granting : lacking;
  return (
    <>
      {!granted && <span>{t(`reason.${reason as 0 | 1 | 2 | 3 | 4 | 5 | 6}`)}</span>}
      {bindings.map((binding) => (
        <span key={binding.roleBindingUid || binding.groupUid}>
          {granted ? t("access.because") : t("access.lacks")} <BindingLine binding={binding} at={group} />
        </span>
      ))}
    </>
  );
}
