// Whether the server gets credentials of the accounts of a group.
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import {
  type AccountAssociation,
  AccountAssociationsService,
  AccountProviderType,
  CheckStatus,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { Dialog } from "../../shell/dialog.tsx";
import { Verdict } from "../../shell/look.tsx";
import { CopyAs, Loading } from "../../shell/parts.tsx";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";

const { checkAccountAssociation } = AccountAssociationsService.method;

const providers = [
  { name: "AWS", member: "amazon", type: AccountProviderType.AMAZON },
  { name: "Google Cloud", member: "google", type: AccountProviderType.GOOGLE },
  { name: "Azure", member: "azure", type: AccountProviderType.AZURE },
] as const;

/** The dialog with the outcome for each account. */
export function AccountCheck({
  association,
  onClose,
}: {
  readonly association: AccountAssociation;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const present = providers.filter(({ member }) => association[member] !== undefined);
  return (
    <Dialog title={t("accounts.checkTitle", { name: association.name })} onClose={onClose}>
      <div className="stack">
        <p className="muted">{t("accounts.checkHelp")}</p>
        {present.length === 0 && <p className="notice">{t("accounts.checkNone")}</p>}
        {present.map(({ name, type }) => (
          <Outcome key={name} name={name} uid={association.uid} providerType={type} />
        ))}
        <div className="row">
          <div className="grow" />
          <Button variant="default" onClick={onClose} data-autofocus>
            {t("action.close")}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

interface OutcomeProps {
  readonly name: string;
  readonly uid: string;
  readonly providerType: AccountProviderType;
}

function Outcome({ name, uid, providerType }: OutcomeProps) {
  const { t } = useTexts();
  const request = { uid, providerType };
  // Each check asks the cloud provider: only on request, and not again when other data is read again or the check fails.
  const once = { staleTime: "static", gcTime: 0, retry: false, refetchInterval: false } as const;
  const { data, error, isFetching, refetch } = useQuery(checkAccountAssociation, request, once);
  const isReady = data?.status === CheckStatus.READY;
  return (
    <section className="card stack" aria-label={name}>
      <div className="row">
        <h3>{name}</h3>
        <div className="grow" />
        <Button variant="default" size="sm" loading={isFetching} onClick={() => void refetch()}>
          {t("accounts.checkAgain")}
        </Button>
        <CopyAs method={checkAccountAssociation} request={request} />
      </div>
      {error && <Failure error={error} />}
      {!data && !error && <Loading lines={1} />}
      {data && (
        <div role="status">
          <p>
            <Verdict isGood={isReady}>
              {isReady ? t("accounts.ready") : t("accounts.notReady", { reason: data.reason })}
            </Verdict>
          </p>
          {data.message !== "" && (
            <p>
              <bdi>{data.message}</bdi>
            </p>
          )}
        </div>
      )}
    </section>
  );
}
