// Provisioning by SCIM: its state, and its token, which is shown once.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import {
  IdentityProvider_SCIM_CredentialState as CredentialState,
  type IdentityProvider,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { missingFor, useMe } from "../../api/access.ts";
import { queryClient } from "../../api/transport.ts";
import { DeleteDialog } from "../../shell/delete-dialog.tsx";
import { useSave } from "../../shell/form.tsx";
import { Pill } from "../../shell/look.tsx";
import { ActionButton, Ago, CopyAs, Copyable } from "../../shell/parts.tsx";
import { DeleteResourceDialog } from "../../shell/resource-dialogs.tsx";
import { SecretOnce } from "../../shell/secret.tsx";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useSignInAddress } from "./address.ts";

const { generateScimToken, regenerateScimToken, revokeScimToken, setScimEnabled } = IdentityProvidersService.method;

/** Shows and changes provisioning. */
export function Scim({ provider }: { readonly provider: IdentityProvider }) {
  const { t } = useTexts();
  const { uid, scim } = provider;
  const { search, change } = useSignInAddress();
  const { data: me } = useMe();
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<unknown>();
  const { mutateAsync: generate } = useMutation(generateScimToken);
  const { mutateAsync: enable } = useMutation(setScimEnabled);
  const missing = missingFor(me, generateScimToken, uid);
  const state = scim?.credentialState ?? CredentialState.NOT_ISSUED;
  const isFirst = state === CredentialState.NOT_ISSUED || state === CredentialState.UNSPECIFIED;
  const isLive = state === CredentialState.LIVE || state === CredentialState.ROTATING;
  const etag = scim?.etag ?? "";
  const act = async (action: () => Promise<object>) => {
    setProblem(undefined);
    setToken("");
    try {
      const made = await action();
      if ("token" in made) setToken(String(made.token));
    } catch (error) {
      setProblem(error);
    }
    await queryClient.invalidateQueries();
  };
  return (
    <>
      <h3>{t("scim.title")}</h3>
      <dl className="facts">
        <dt>{t("scim.endpoint")}</dt>
        <dd>{scim?.endpointUrl ? <Copyable value={scim.endpointUrl} what={t("scim.endpoint")} /> : "–"}</dd>
        <dt>{t("scim.state")}</dt>
        <dd>
          {scim?.enabled ? <Pill tone="good">{t("scim.on")}</Pill> : <Pill>{t("scim.off")}</Pill>}{" "}
          {t(`scim.token.${state as 0 | 1 | 2 | 3 | 4 | 5}`)}{" "}
          {scim?.tokenExpireTime && <Ago time={timestampDate(scim.tokenExpireTime)} />}
        </dd>
      </dl>
      {problem !== undefined && <Failure error={problem} />}
      {token !== "" && <SecretOnce what={t("scim.secret")} value={token} />}
      <div className="row">
        {isFirst ? (
          <ActionButton missing={missing} onClick={() => void act(() => generate({ identityProviderUid: uid }))}>
            {t("scim.generate")}
          </ActionButton>
        ) : (
          <ActionButton missing={missing} onClick={() => void change({ dialog: "scim-replace" })}>
            {t("scim.regenerate")}
          </ActionButton>
        )}
        {isLive && (
          <ActionButton missing={missing} onClick={() => void change({ dialog: "scim-revoke" })}>
            {t("scim.revoke")}
          </ActionButton>
        )}
        {etag !== "" && (
          <ActionButton
            missing={missing}
            onClick={() => void act(() => enable({ identityProviderUid: uid, enabled: !scim?.enabled, etag }))}
          >
            {t(scim?.enabled ? "scim.disable" : "scim.enable")}
          </ActionButton>
        )}
      </div>
      {missing.length === 0 && !isFirst && search.dialog === "scim-replace" && (
        <ReplaceToken provider={provider} isLive={isLive} onMade={setToken} />
      )}
      {missing.length === 0 && isLive && search.dialog === "scim-revoke" && (
        <RevokeToken provider={provider} onRevoked={() => setToken("")} />
      )}
    </>
  );
}

function ReplaceToken({
  provider: { uid: identityProviderUid, scim },
  isLive,
  onMade,
}: {
  readonly provider: IdentityProvider;
  readonly isLive: boolean;
  readonly onMade: (token: string) => void;
}) {
  const { t } = useTexts();
  const { close } = useSignInAddress();
  const save = useSave(regenerateScimToken);
  const request = { identityProviderUid, etag: scim?.etag ?? "" };
  const replace = () => save(request, { onSecret: ({ token }) => onMade(token), onSaved: close });
  return (
    <DeleteDialog
      title={t("scim.replaceTitle")}
      text={t(isLive ? "scim.replaceText" : "scim.replaceEndedText")}
      button={t("scim.regenerate")}
      remove={replace}
      onClose={() => void close()}
      footer={<CopyAs method={regenerateScimToken} request={request} />}
    />
  );
}

function RevokeToken({
  provider: { uid: identityProviderUid },
  onRevoked,
}: {
  readonly provider: IdentityProvider;
  readonly onRevoked: () => void;
}) {
  const { t } = useTexts();
  const { close } = useSignInAddress();
  return (
    <DeleteResourceDialog
      title={t("scim.revokeTitle")}
      text={t("scim.revokeText")}
      button={t("scim.revoke")}
      method={revokeScimToken}
      request={{ identityProviderUid }}
      report={t("scim.done.revoked")}
      onDeleted={() => {
        onRevoked();
        return close();
      }}
      onClose={close}
    />
  );
}
