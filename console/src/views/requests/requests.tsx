// "Who asks for access, and who may have it for a time?"
import { AccessRequestRulesService } from "../../../../gen/gatehouse/access/v1/access_request_rules_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { PageHead } from "../../shell/look.tsx";
import { ActionButton, Loading } from "../../shell/parts.tsx";
import { useMyRequests, useRequestable, waitingIn, within } from "../../shell/requests/my-requests.ts";
import { OwnRequests } from "../../shell/requests/own-requests.tsx";
import { type Tab, Tabs } from "../../shell/tabs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { tabs, useRequestsAddress } from "./address.ts";
import { Inbox } from "./inbox.tsx";

const AllRequests = lazyPart(async () => (await import("./all-requests.tsx")).AllRequests, <Loading />);
const Rules = lazyPart(async () => (await import("./rules.tsx")).Rules, <Loading />, "delegations");
const RequestPage = lazyPart(async () => (await import("./request-page.tsx")).RequestPage, <Loading />);
const RequestDialogs = lazyPart(async () => (await import("./dialogs.tsx")).RequestDialogs);

/** The view: a part of it, or the page of a request. */
export function Requests() {
  const { selected, search } = useRequestsAddress();
  const isPage = selected !== "" && search.tab === undefined;
  return (
    <>
      {isPage ? <RequestPage key={selected} uid={selected} /> : <Parts />}
      {search.dialog !== undefined && search.tab !== "rules" && <RequestDialogs />}
    </>
  );
}

function Parts() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change } = useRequestsAddress();
  const { data } = useMyRequests();
  const { data: requestable } = useRequestable("");
  const waiting = within(org, waitingIn(data))?.length ?? 0;
  const mayList = may(me, AccessRequestRulesService.method.listAccessRequestRules);
  const link = { to: "/o/$org/requests/$", params: { org, _splat: "" } } as const;
  const isShown = (tab: (typeof tabs)[number]) => tab === "mine" || mayList || search.tab === tab;
  const links: Tab[] = [
    { ...link, text: t("requests.inbox", { count: waiting }), isCurrent: search.tab === undefined },
    ...tabs
      .filter(isShown)
      .map((tab) => ({ ...link, text: t(`requests.${tab}`), search: { tab }, isCurrent: search.tab === tab })),
  ];
  return (
    <>
      <PageHead title={t("nav.requests")}>
        {search.tab !== "rules" && (within(org, requestable?.requestableRoles)?.length ?? 0) > 0 && (
          <ActionButton variant="filled" shortcut="n" missing={[]} onClick={() => void change({ dialog: "new" })}>
            {t("requests.new")}
          </ActionButton>
        )}
      </PageHead>
      <Tabs label={t("requests.parts")} tabs={links} />
      {search.tab === undefined && <Inbox />}
      {search.tab === "mine" && <OwnRequests org={org} />}
      {search.tab === "all" && <AllRequests />}
      {search.tab === "rules" && <Rules />}
    </>
  );
}
