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
import { ActionButton, Ago, Copyable } from "../../shell/parts.tsx";
import { SecretOnce } from "../../shell/secret.tsx";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";

const { generateScimToken, regenerateScimToken, revokeScimToken, setScimEnabled } = IdentityProvidersService.method;

/** Shows and changes provisioning. */
export function Scim({ provider: { uid, scim } }: { readonly provider: IdentityProvider }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<unknown>();
  const { mutateAsync: generate } = useMutation(generateScimToken);
  const { mutateAsync: regenerate } = useMutation(regenerateScimToken);
  const { mutateAsync: revoke } = useMutation(revokeScimToken);
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
  const newToken = () =>
    isFirst ? generate({ identityProviderUid: uid }) : regenerate({ identityProviderUid: uid, etag });
  return (
    <>
      <h3>{t("scim.title")}</h3>
      <dl className="facts">
        <dt>{t("scim.endpoint")}</dt>
        <dd>{scim?.endpointUrl ? <Copyable value={scim.endpointUrl} what={t("scim.endpoint")} /> : "–"}</dd>
        <dt>{t("scim.state")}</dt>
        <dd>
          {scim?.enabled ? `✓ ${t("scim.on")}` : `– ${t("scim.off")}`};{" "}
          {t(`scim.token.${state as 0 | 1 | 2 | 3 | 4 | 5}`)}{" "}
          {scim?.tokenExpireTime && <Ago time={timestampDate(scim.tokenExpireTime)} />}
        </dd>
      </dl>
      {problem !== undefined && <Failure error={problem} />}
      {token !== "" && <SecretOnce what={t("scim.secret")} value={token} />}
      <div className="row">
        <ActionButton missing={missing} onClick={() => void act(newToken)}>
          {t(isFirst ? "scim.generate" : "scim.regenerate")}
        </ActionButton>
        {isLive && (
          <ActionButton missing={missing} onClick={() => void act(() => revoke({ identityProviderUid: uid }))}>
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
    </>
  );
}
