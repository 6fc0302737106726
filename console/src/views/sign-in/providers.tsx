// The login providers of an organization.

import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import {
  type IdentityProvider,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import { Empty } from "../../shell/look.tsx";
import { ActionButton, CopyAs } from "../../shell/parts.tsx";
import splitStyles from "../../shell/split.module.css";
import { Denied } from "../../shell/states.tsx";
import { type Column, Pager, pageSize, pagesOf, Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useSignInAddress } from "./address.ts";
import { ProviderDetails } from "./provider-details.tsx";
import { NewProvider } from "./provider-form.tsx";

const { listIdentityProviders, createIdentityProvider } = IdentityProvidersService.method;

/** The list, and the selected provider. */
export function Providers() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected, search, change, close } = useSignInAddress();
  const missing = missingFor(me, createIdentityProvider, org);
  const mayList = may(me, listIdentityProviders);
  const turn = (page: number | undefined) => void change({ page });
  const request = {
    uidp: { descendantsOf: org },
    orderBy: "name",
    pageSize,
    skip: pagesOf(search.page, 0, turn).skip,
  };
  const { data, error, refetch } = useQuery(listIdentityProviders, request, { enabled: mayList });
  const columns = useColumns(data?.identityProviders ?? []);
  if (me && !mayList) return <Denied capabilities={requiredBy(listIdentityProviders)} uid={org} />;
  return (
    <>
      <div className="row">
        <p className="muted">{t("providers.lead")}</p>
        <div className="grow" />
        <CopyAs method={listIdentityProviders} request={request} />
        <ActionButton variant="filled" shortcut="n" missing={missing} onClick={() => void change({ dialog: "new" })}>
          {t("providers.new")}
        </ActionButton>
      </div>
      <div className={selected === "" ? "stack" : splitStyles.split}>
        <section className="stack" aria-label={t("identities.providers")}>
          <Table
            label={t("identities.providers")}
            list={{ rows: data?.identityProviders, error, onRetry: () => void refetch() }}
            columns={columns}
            keyOf={({ uid }) => uid}
            selected={selected}
            empty={<Empty>{t("providers.none")}</Empty>}
          />
          <Pager
            {...pagesOf(search.page, Number(data?.totalCount ?? 0), turn)}
            count={data?.identityProviders.length ?? 0}
          />
        </section>
        {selected !== "" && <ProviderDetails key={selected} uid={selected} />}
      </div>
      {search.dialog === "new" && missing.length === 0 && <NewProvider onClose={() => void close()} />}
    </>
  );
}

function useColumns(providers: readonly IdentityProvider[]): Column<IdentityProvider>[] {
  const { t } = useTexts();
  const { org } = useSignInAddress();
  const named = useNamed(providers.map(({ defaultRole }) => defaultRole));
  return [
    {
      title: t("identities.name"),
      cell: ({ uid, name }) => (
        <Link to="/o/$org/sign-in/$" params={{ org, _splat: uid }}>
          <bdi>{name}</bdi>
        </Link>
      ),
    },
    { title: t("providers.issuer"), cell: ({ configuration }) => <bdi>{configuration.value?.issuer}</bdi> },
    {
      title: t("providers.defaultRole"),
      cell: ({ defaultRole }) => named(defaultRole),
    },
  ];
}
