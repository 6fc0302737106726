// The organizations that a person has joined, and the way out of them.
import { callUnaryMethod, useQuery, useTransport } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { useState } from "react";
import { type Membership, MembershipsService } from "../../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { shortUid } from "../../api/uids.ts";
import { DeleteDialog } from "../../shell/delete-dialog.tsx";
import { Failure } from "../../shell/states.tsx";
import tableStyles from "../../shell/table.module.css";
import { type Texts, useTexts } from "../../texts/texts.ts";

const { leaveOrganization, listMemberships } = MembershipsService.method;

/** Lists the organizations. */
export function Memberships() {
  const { t } = useTexts();
  const { data, error } = useQuery(listMemberships, { pageSize: 200 });
  const [leaving, setLeaving] = useState<Membership>();
  if (!error && !data?.memberships.length) return null;
  return (
    <section className="card stack" aria-labelledby="memberships">
      <h2 id="memberships">{t("me.organizations")}</h2>
      {error && <Failure error={error} />}
      <table className={tableStyles.cards}>
        <thead>
          <tr>
            <th>{t("me.organization")}</th>
            <th>{t("me.roles")}</th>
            <th>
              <span className="hidden">{t("me.leave")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {data?.memberships.map((membership) => (
            <tr key={membership.organization}>
              <td>
                <bdi>{nameOf(t, membership)}</bdi>
              </td>
              <td data-label={t("me.roles")}>{membership.roles.join(", ")}</td>
              <td>
                <Button variant="default" size="sm" onClick={() => setLeaving(membership)}>
                  {t("me.leave")} <span className="hidden">{nameOf(t, membership)}</span>
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {leaving && <LeaveDialog membership={leaving} onClose={() => setLeaving(undefined)} />}
    </section>
  );
}

function LeaveDialog({ membership, onClose }: { readonly membership: Membership; readonly onClose: () => void }) {
  const { t } = useTexts();
  const transport = useTransport();
  const leave = async () => {
    await callUnaryMethod(transport, leaveOrganization, { organization: membership.organization });
    // Everything that the person may read has changed: a query that runs meanwhile would be denied.
    location.reload();
  };
  return (
    <DeleteDialog
      title={t("me.leave.title", { name: nameOf(t, membership) })}
      text={t("me.leave.text")}
      button={t("me.leave.button")}
      remove={leave}
      onClose={onClose}
    />
  );
}

function nameOf(t: Texts, { name, organization }: Membership): string {
  return name === "" ? t("join.unverified", { uid: shortUid(organization) }) : name;
}
