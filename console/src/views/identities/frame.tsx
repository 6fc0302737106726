// What all tabs of the identities have in common: the heading, their actions, and the links to the tabs.
import type { LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { holds, useMe } from "../../api/access.ts";
import { useOrganizationUid } from "../../shell/organization.tsx";
import { Heading } from "../../shell/parts.tsx";
import { Tabs } from "../../shell/tabs.tsx";
import type { TextId } from "../../texts/catalogues.ts";
import { useTexts } from "../../texts/texts.ts";

/** The tabs in their order, with the capability without which each list in them would be denied. */
const tabs = [
  { name: "workloads", to: "/o/$org/identities/$", text: "identities.workloads", needs: "identity.list" },
] as const satisfies readonly IdentityTab[];

interface IdentityTab {
  readonly name: string;
  readonly to: LinkProps["to"];
  readonly text: TextId;
  readonly needs: string;
}

/** The heading and the tabs. Routes of tabs load the texts `identities` for it. */
export function IdentitiesFrame({
  tab,
  actions,
  children,
}: {
  readonly tab: (typeof tabs)[number]["name"];
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const org = useOrganizationUid();
  const shown = tabs.filter(({ name, needs }) => name === tab || holds(me, needs, org));
  return (
    <>
      <div className="head">
        <Heading>{t("identities.title")}</Heading>
        <div className="grow" />
        {actions}
      </div>
      <Tabs
        label={t("identities.tabs")}
        tabs={shown.map(({ name, to, text }) => ({
          to,
          text: t(text),
          params: { org, _splat: "" },
          isCurrent: name === tab,
        }))}
      />
      {children}
    </>
  );
}
