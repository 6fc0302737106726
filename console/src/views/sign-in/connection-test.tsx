// Tests the connection to a login provider: what a sign-in needs before a person is asked for anything.
import { useMutation } from "@connectrpc/connect-query";
import { IdentityProviderTestService } from "../../../../gen/gatehouse/iam/v1/provider_tests_pb.ts";
import { missingFor, useMe } from "../../api/access.ts";
import { outcomeOf } from "../../shell/check-outcome.ts";
import { Pill } from "../../shell/look.tsx";
import { ActionButton, CopyAs } from "../../shell/parts.tsx";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";

const { testIdentityProvider } = IdentityProviderTestService.method;

/** The button, and what became of each check. */
export function ConnectionTest({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { mutate, data, error, isPending } = useMutation(testIdentityProvider);
  const missing = missingFor(me, testIdentityProvider, uid);
  return (
    <>
      <div className="row">
        <ActionButton missing={missing} onClick={() => !isPending && mutate({ uid })}>
          {t("providers.test")}
        </ActionButton>
        <CopyAs method={testIdentityProvider} request={{ uid }} />
      </div>
      {error && <Failure error={error} />}
      {data && (
        <div role="status">
          <ul className="list">
            {data.checks.map(({ name, outcome, detail }) => {
              const { text, ...look } = outcomeOf(outcome);
              return (
                <li key={name}>
                  <Pill {...look}>{t(text)}</Pill>
                  <code>{name}</code>
                  <bdi>{detail}</bdi>
                </li>
              );
            })}
          </ul>
        </div>
      )}
    </>
  );
}
