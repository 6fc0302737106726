import { Outlet, useNavigate } from "@tanstack/react-router";
import { useMe, usePending } from "../api/access.ts";
import { useTexts } from "../texts/texts.ts";
import { JoinCard } from "./join-card.tsx";
import { useOrganization, useOrganizationUid } from "./organization.tsx";
import { Heading } from "./parts.tsx";
import { Failure, NotFound } from "./states.tsx";

/** The views of an organization. */
export function OrganizationLayout() {
  const { t } = useTexts();
  const uid = useOrganizationUid();
  const organization = useOrganization(uid);
  const { error } = useMe();
  const navigate = useNavigate();
  const pending = usePending()?.find((one) => one.organization === uid);
  if (pending)
    return (
      <div className="stack">
        <Heading>{t("join.title")}</Heading>
        <JoinCard organization={pending} onLater={() => void navigate({ to: "/me" })} />
      </div>
    );
  if (error && organization === undefined) return <Failure error={error} isPage />;
  if (organization === null) return <NotFound />;
  return <Outlet />;
}
