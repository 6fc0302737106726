import { useQuery } from "@connectrpc/connect-query";
import {
  type IdentityProvider,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { ActionButton, CopyAs, Copyable, Loading } from "../../shell/parts.tsx";
import { DeleteResourceDialog } from "../../shell/resource-dialogs.tsx";
import { Denied, Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useSignInAddress } from "./address.ts";
import { ConnectionTest } from "./connection-test.tsx";
import { Mappings } from "./mappings.tsx";
import { EditProvider } from "./provider-form.tsx";
import { Scim } from "./scim.tsx";

const { getIdentityProvider, updateIdentityProvider, deleteIdentityProvider } = IdentityProvidersService.method;

/** The selected provider. */
export function ProviderDetails({ uid }: { readonly uid: string }) {
  const { data: me } = useMe();
  const mayGet = may(me, getIdentityProvider, uid);
  const { data, error, refetch } = useQuery(getIdentityProvider, { uid }, { enabled: mayGet });
  if (me && !mayGet) return <Denied capabilities={requiredBy(getIdentityProvider)} uid={uid} />;
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return <Details provider={data} />;
}

function Details({ provider }: { readonly provider: IdentityProvider }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { search, change, close } = useSignInAddress();
  const { uid, name, description, configuration } = provider;
  const oidc = configuration.value;
  return (
    <section className="card stack" aria-labelledby="provider-name">
      <h2 id="provider-name">
        <bdi>{name}</bdi>
      </h2>
      <div className="row">
        <ActionButton
          shortcut="e"
          missing={missingFor(me, updateIdentityProvider, uid)}
          onClick={() => void change({ dialog: "edit" })}
        >
          {t("identities.edit")}
        </ActionButton>
        <ActionButton
          shortcut="Delete"
          missing={missingFor(me, deleteIdentityProvider, uid)}
          onClick={() => void change({ dialog: "delete" })}
        >
          {t("identities.delete")}
        </ActionButton>
        <CopyAs method={getIdentityProvider} request={{ uid }} />
      </div>
      <ConnectionTest uid={uid} />
      {description !== "" && (
        <p>
          <bdi>{description}</bdi>
        </p>
      )}
      <dl className="facts">
        <dt>{t("providers.redirect")}</dt>
        <dd>
          <Copyable value={`${location.origin}/oauth/callback/${uid}`} what={t("providers.redirect")} />
        </dd>
        <dt>{t("providers.issuer")}</dt>
        <dd>
          <bdi>{oidc?.issuer}</bdi>
        </dd>
        <dt>{t("providers.clientId")}</dt>
        <dd>
          <code>{oidc?.clientId}</code>
        </dd>
        <dt>{t("providers.scopes")}</dt>
        <dd>{oidc?.additionalScopes.join(" ")}</dd>
        <dt>{t("providers.groups")}</dt>
        <dd>{oidc?.groupsClaim || "–"}</dd>
      </dl>
      <Mappings provider={provider} />
      <Scim provider={provider} />
      {search.dialog === "edit" && may(me, updateIdentityProvider, uid) && (
        <EditProvider provider={provider} onClose={() => void close()} />
      )}
      {search.dialog === "delete" && may(me, deleteIdentityProvider, uid) && <DeleteProvider provider={provider} />}
    </section>
  );
}

function DeleteProvider({ provider: { uid, name } }: { readonly provider: IdentityProvider }) {
  const { t } = useTexts();
  const { open, close } = useSignInAddress();
  return (
    <DeleteResourceDialog
      title={t("identities.deleteTitle", { name })}
      text={t("providers.deleteText")}
      button={t("providers.deleteButton")}
      name={name}
      method={deleteIdentityProvider}
      request={{ uid }}
      report={t("providers.done.deleted", { name })}
      onDeleted={() => open("")}
      onClose={close}
    />
  );
}
