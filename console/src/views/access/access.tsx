// "Who may do what here, and why?"
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { missingFor, useMe } from "../../api/access.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { PageHead } from "../../shell/look.tsx";
import { ActionButton, Loading } from "../../shell/parts.tsx";
import { Tabs } from "../../shell/tabs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { Here } from "./here.tsx";
import { useAccessAddress } from "./use-address.ts";

const OfIdentity = lazyPart(async () => (await import("./of-identity.tsx")).OfIdentity, <Loading />);
const Ask = lazyPart(async () => (await import("./ask.tsx")).Ask, <Loading />);
const Terms = lazyPart(async () => (await import("./terms.tsx")).Terms, <Loading />);
const Unused = lazyPart(async () => (await import("./unused.tsx")).Unused, <Loading />);
const BindingDialogs = lazyPart(async () => (await import("../../shell/binding-dialogs.tsx")).BindingDialogs);

/** The access view: one of its questions, and the dialogs that change access. */
export function Access() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, group, search, change } = useAccessAddress();
  const missing = missingFor(me, RoleBindingsService.method.createRoleBinding, group);
  if (!me) return <Loading />;
  const link = { to: "/o/$org/access", params: { org } } as const;
  const kept = { ...(search.group !== undefined && { group: search.group }) };
  const identity = { ...(search.identity !== undefined && { identity: search.identity }) };
  const capability = { ...(search.capability !== undefined && { capability: search.capability }) };
  return (
    <>
      <PageHead title={t("nav.who")}>
        <ActionButton variant="filled" shortcut="n" missing={missing} onClick={() => void change({ dialog: "grant" })}>
          {t("access.grant")}
        </ActionButton>
      </PageHead>
      <Tabs
        label={t("access.questions")}
        tabs={[
          { ...link, text: t("access.here"), search: { ...kept, ...capability }, isCurrent: search.tab === undefined },
          {
            ...link,
            text: t("access.ofIdentity"),
            search: { tab: "identity", ...kept, ...identity },
            isCurrent: search.tab === "identity",
          },
          {
            ...link,
            text: t("access.ask"),
            search: { tab: "ask", ...kept, ...identity, ...capability },
            isCurrent: search.tab === "ask",
          },
          {
            ...link,
            text: t("access.terms"),
            search: { tab: "terms", ...kept },
            isCurrent: search.tab === "terms",
          },
          {
            ...link,
            text: t("access.unused"),
            search: { tab: "unused", ...kept },
            isCurrent: search.tab === "unused",
          },
        ]}
      />
      {search.tab === undefined && <Here />}
      {search.tab === "identity" && <OfIdentity />}
      {search.tab === "ask" && <Ask />}
      {search.tab === "terms" && <Terms />}
      {search.tab === "unused" && <Unused />}
      {search.dialog !== undefined && <BindingDialogs group={group} identity={search.identity ?? ""} />}
    </>
  );
}
