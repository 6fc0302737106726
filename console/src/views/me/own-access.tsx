// The roles of the caller that end, their access requests, and the way to request a role.
import { useState } from "react";
import type { BindingExplanation } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { groupText } from "../../api/naming.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { ActionButton, Ago } from "../../shell/parts.tsx";
import { useMyRequests, useRequestable } from "../../shell/requests/my-requests.ts";
import { OwnRequests } from "../../shell/requests/own-requests.tsx";
import { useOwnTerms } from "../../shell/requests/own-terms.tsx";
import tableStyles from "../../shell/table.module.css";
import { useTexts } from "../../texts/texts.ts";

const GiveBack = lazyPart(async () => (await import("../../shell/requests/give-back.tsx")).GiveBack);
const RequestDialog = lazyPart(async () => (await import("../../shell/requests/request-dialog.tsx")).RequestDialog);

/** The card. Nothing for a person without such roles and requests, who may request nothing. */
export function OwnAccess() {
  const { t } = useTexts();
  const terms = useOwnTerms();
  const { data: mine } = useMyRequests();
  const { data: requestable } = useRequestable("");
  const [isRequesting, setRequesting] = useState(false);
  const [returned, setReturned] = useState<BindingExplanation>();
  const mayRequest = (requestable?.requestableRoles.length ?? 0) > 0;
  if (!mayRequest && terms.length === 0 && !mine?.requests.length) return null;
  return (
    <section className="card stack" aria-labelledby="own-access">
      <div className="row">
        <h2 id="own-access">{t("me.access")}</h2>
        <div className="grow" />
        {mayRequest && (
          <ActionButton missing={[]} onClick={() => setRequesting(true)}>
            {t("requests.new")}
          </ActionButton>
        )}
      </div>
      {terms.length > 0 && (
        <table className={tableStyles.cards}>
          <caption className="hidden">{t("terms.title")}</caption>
          <thead>
            <tr>
              <th>{t("me.role")}</th>
              <th>{t("me.group")}</th>
              <th>{t("me.ends")}</th>
              <th>
                <span className="hidden">{t("terms.giveBack")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {terms.map(({ binding, endMs }) => (
              <tr key={binding.roleBindingUid}>
                <td>
                  <bdi>{binding.roleName || "…"}</bdi>
                </td>
                <td data-label={t("me.group")}>
                  <bdi>{groupText(t, binding.groupName)}</bdi>
                </td>
                <td data-label={t("me.ends")}>
                  <Ago time={new Date(endMs)} />
                </td>
                <td>
                  <ActionButton missing={[]} onClick={() => setReturned(binding)}>
                    {t("terms.giveBack")}
                  </ActionButton>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {mine && mine.requests.length > 0 && (
        <>
          <h3 className="row">{t("me.requests")}</h3>
          <OwnRequests org="" />
        </>
      )}
      {isRequesting && <RequestDialog onClose={() => setRequesting(false)} />}
      {returned && <GiveBack binding={returned} onClose={() => setReturned(undefined)} />}
    </section>
  );
}
