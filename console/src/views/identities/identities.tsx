// "Which workloads and people are there?"
import { Heading } from "../../shell/parts.tsx";
import { type Tab, Tabs } from "../../shell/tabs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { Accounts } from "./accounts.tsx";
import { useIdentitiesAddress } from "./address.ts";
import { Invites } from "./invites.tsx";
import { People } from "./people.tsx";
import { Providers } from "./providers.tsx";
import { tabs } from "./route.ts";
import { Workloads } from "./workloads.tsx";

/** The view: the workloads, or another part. */
export function Identities() {
  const { t } = useTexts();
  const { org, search } = useIdentitiesAddress();
  const link = { to: "/o/$org/identities/$", params: { org, _splat: "" } } as const;
  const links: Tab[] = [
    { ...link, text: t("identities.workloads"), isCurrent: search.tab === undefined },
    ...tabs.map((tab) => ({ ...link, text: t(`identities.${tab}`), search: { tab }, isCurrent: search.tab === tab })),
  ];
  return (
    <>
      <div className="head">
        <Heading>{t("identities.title")}</Heading>
      </div>
      <Tabs label={t("identities.parts")} tabs={links} />
      {search.tab === undefined && <Workloads />}
      {search.tab === "people" && <People />}
      {search.tab === "invites" && <Invites />}
      {search.tab === "providers" && <Providers />}
      {search.tab === "accounts" && <Accounts />}
    </>
  );
}
