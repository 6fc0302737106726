// "How do people, and the accounts of clouds, get in?"
import { lazyPart } from "../../shell/lazy-part.tsx";
import { PageHead } from "../../shell/look.tsx";
import { Loading } from "../../shell/parts.tsx";
import { type Tab, Tabs } from "../../shell/tabs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { tabs, useSignInAddress } from "./address.ts";
import { Providers } from "./providers.tsx";

const Invites = lazyPart(async () => (await import("./invites.tsx")).Invites, <Loading />);
const Accounts = lazyPart(async () => (await import("./accounts.tsx")).Accounts, <Loading />);

/** The view: the identity providers, or another part. */
export function SignIn() {
  const { t } = useTexts();
  const { org, search } = useSignInAddress();
  const link = { to: "/o/$org/sign-in/$", params: { org, _splat: "" } } as const;
  const links: Tab[] = [
    { ...link, text: t("identities.providers"), isCurrent: search.tab === undefined },
    ...tabs.map((tab) => ({ ...link, text: t(`identities.${tab}`), search: { tab }, isCurrent: search.tab === tab })),
  ];
  return (
    <>
      <PageHead title={t("nav.signIn")} />
      <Tabs label={t("identities.parts")} tabs={links} />
      {search.tab === undefined && <Providers />}
      {search.tab === "invites" && <Invites />}
      {search.tab === "accounts" && <Accounts />}
    </>
  );
}
