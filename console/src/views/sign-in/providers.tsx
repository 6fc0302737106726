// The login providers of an organization.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Link } from "@tanstack/react-router";
import {
  type IdentityProvider,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, Ago, CopyAs, Loading } from "../../shell/parts.tsx";
import splitStyles from "../../shell/split.module.css";
import { Denied } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useSignInAddress } from "./address.ts";

const ProviderDetails = lazyPart(async () => (await import("./provider-details.tsx")).ProviderDetails, <Loading />);
const NewProvider = lazyPart(async () => (await import("./provider-form.tsx")).NewProvider);

const { listIdentityProviders, createIdentityProvider } = IdentityProvidersService.method;

/** The list, and the selected provider. */
export function Providers() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected, search, change, close } = useSignInAddress();
  const missing = missingFor(me, createIdentityProvider, org);
  const mayList = may(me, listIdentityProviders);
  const list = usePagedList({
    method: listIdentityProviders,
    request: { uidp: { descendantsOf: org } },
    rowsOf: ({ identityProviders }) => identityProviders,
    order: "name",
    isEnabled: mayList,
    address: search,
    onAddress: change,
  });
  const columns = useColumns(list.rows ?? []);
  if (me && !mayList) return <Denied capabilities={requiredBy(listIdentityProviders)} uid={org} />;
  return (
    <div className="stack">
      <div className="row">
        <p className="muted">{t("providers.lead")}</p>
        <div className="grow" />
        <CopyAs method={listIdentityProviders} request={list.request} />
        <ActionButton variant="filled" shortcut="n" missing={missing} onClick={() => void change({ dialog: "new" })}>
          {t("providers.new")}
        </ActionButton>
      </div>
      <div className={selected === "" ? "stack" : splitStyles.split}>
        <section className="stack" aria-label={t("identities.providers")}>
          <List
            id="providers"
            label={t("identities.providers")}
            list={list}
            columns={columns}
            keyOf={({ uid }) => uid}
            selected={selected}
            empty={<Empty>{t("providers.none")}</Empty>}
          />
        </section>
        {selected !== "" && <ProviderDetails key={selected} uid={selected} />}
      </div>
      {search.dialog === "new" && missing.length === 0 && <NewProvider onClose={() => void close()} />}
    </div>
  );
}

function useColumns(providers: readonly IdentityProvider[]): Column<IdentityProvider>[] {
  const { t } = useTexts();
  const { org } = useSignInAddress();
  const named = useNamed(providers.map(({ defaultRole }) => defaultRole));
  return [
    {
      title: t("identities.name"),
      text: ({ name }) => name,
      sort: "name",
      cell: ({ uid, name }) => (
        <Link to="/o/$org/sign-in/$" params={{ org, _splat: uid }}>
          <bdi>{name}</bdi>
        </Link>
      ),
    },
    {
      id: "issuer",
      title: t("providers.issuer"),
      text: ({ configuration }) => configuration.value?.issuer ?? "",
      cell: ({ configuration }) => <bdi>{configuration.value?.issuer}</bdi>,
    },
    {
      id: "defaultRole",
      title: t("providers.defaultRole"),
      text: ({ defaultRole }) => named(defaultRole),
      cell: ({ defaultRole }) => named(defaultRole),
    },
    {
      id: "created",
      title: t("list.created"),
      isExtra: true,
      text: ({ createTime }) => timeCell(createTime),
      sort: "create_time desc",
      cell: ({ createTime }) => createTime && <Ago time={timestampDate(createTime)} />,
    },
  ];
}
