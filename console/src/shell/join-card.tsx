// Asks a person whether they join the organizations that gave them a role (docs/design/access.md).
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { useId, useState } from "react";
import { MembershipsService, type PendingOrganization } from "../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { usePending } from "../api/access.ts";
import { shortUid } from "../api/uids.ts";
import { useTexts } from "../texts/texts.ts";
import { Failure } from "./states.tsx";

const { acceptOrganization, declineOrganization } = MembershipsService.method;

/** How many organizations are shown at once: anyone can give a role to anyone. */
const maxShown = 5;

/** All organizations that wait for a decision, but those that the person has put off on this page. */
export function PendingOrganizations() {
  const [later, setLater] = useState<readonly string[]>([]);
  const shown = (usePending() ?? []).filter(({ organization }) => !later.includes(organization)).slice(0, maxShown);
  return shown.map((one) => (
    <JoinCard key={one.organization} organization={one} onLater={() => setLater([...later, one.organization])} />
  ));
}

interface JoinCardProps {
  readonly organization: PendingOrganization;
  /** Puts the decision off. */
  readonly onLater: () => void;
}

/** Asks about one organization. */
export function JoinCard({ organization: { organization, name, roles, hasCustomRoles }, onLater }: JoinCardProps) {
  const { t } = useTexts();
  const title = useId();
  const transport = useTransport();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const decide = async (method: typeof acceptOrganization | typeof declineOrganization) => {
    setBusy(true);
    setError(undefined);
    try {
      await callUnaryMethod(transport, method as typeof acceptOrganization, { organization });
      // Everything that the person may read has changed: a query that runs meanwhile would be denied.
      location.reload();
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  const shown = [...roles, ...(hasCustomRoles ? [t("join.customRole")] : [])].join(", ");
  return (
    <section className="card stack" aria-labelledby={title}>
      <h2 id={title}>
        <bdi>{name === "" ? t("join.unverified", { uid: shortUid(organization) }) : name}</bdi>
      </h2>
      <p>{t("join.text", { roles: shown })}</p>
      <div className="row">
        <Button loading={isBusy} onClick={() => void decide(acceptOrganization)}>
          {t("join.join")}
        </Button>
        <Button variant="default" onClick={onLater}>
          {t("join.later")}
        </Button>
        <Button variant="default" color="danger" disabled={isBusy} onClick={() => void decide(declineOrganization)}>
          {t("join.decline")}
        </Button>
      </div>
      {error !== undefined && <Failure error={error} />}
    </section>
  );
}
