// "Which workloads and people are there?"
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Heading, Loading } from "../../shell/parts.tsx";
import { type Tab, Tabs } from "../../shell/tabs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { tabs, useIdentitiesAddress } from "./address.ts";
import { Workloads } from "./workloads.tsx";

const People = lazyPart(async () => (await import("./people.tsx")).People, <Loading />);
const Invites = lazyPart(async () => (await import("./invites.tsx")).Invites, <Loading />);
const Providers = lazyPart(async () => (await import("./providers.tsx")).Providers, <Loading />);
const Accounts = lazyPart(async () => (await import("./accounts.tsx")).Accounts, <Loading />);

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
