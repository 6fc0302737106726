import { Outlet } from "@tanstack/react-router";
import { useMe } from "../api/access.ts";
import { useTexts } from "../texts/texts.ts";
import { useOrganization, useOrganizationUid } from "./organization.tsx";
import { Heading } from "./parts.tsx";
import { Failure } from "./states.tsx";

/** The views of an organization. */
export function OrganizationLayout() {
  const { t } = useTexts();
  const organization = useOrganization(useOrganizationUid());
  const { error } = useMe();
  if (error && organization === undefined) return <Failure error={error} />;
  if (organization === null)
    return (
      <div className="stack">
        <Heading>{t("state.notFound.title")}</Heading>
        <p className="notice warn">{t("state.notFound")}</p>
      </div>
    );
  return <Outlet />;
}
