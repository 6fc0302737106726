// "Would this token do?": each check of an exchange. The token is sent in the body of one request, and is not kept.
import { useMutation } from "@connectrpc/connect-query";
import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { AccessService, type ExplainExchangeResponse } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { outcomeOf } from "../../shell/check-outcome.ts";
import { Dialog } from "../../shell/dialog.tsx";
import { Pill, Verdict } from "../../shell/look.tsx";
import { Failure } from "../../shell/states.tsx";
import tableStyles from "../../shell/table.module.css";
import { useTexts } from "../../texts/texts.ts";

const { explainExchange } = AccessService.method;

/** The dialog with the field for a token, and what became of it. */
export function TryToken({ identity, onClose }: { readonly identity: Identity; readonly onClose: () => void }) {
  const { t } = useTexts();
  const [token, setToken] = useState("");
  const { mutateAsync, data, error, isPending } = useMutation(explainExchange);
  const send = async () => {
    const presented = token.trim();
    // Nobody who looks at the screen later shall find it.
    setToken("");
    await mutateAsync({ identity: identity.uid, token: presented }).catch(() => {});
  };
  return (
    <Dialog title={t("try.with", { name: identity.name })} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <Textarea
          label={t("try.token")}
          description={t("try.help")}
          value={token}
          rows={3}
          autoComplete="off"
          data-autofocus
          spellCheck={false}
          onChange={({ currentTarget }) => setToken(currentTarget.value)}
        />
        <div>
          <Button type="submit" size="sm" loading={isPending} disabled={token.trim() === ""}>
            {t("try.button")}
          </Button>
        </div>
        {error && <Failure error={error} />}
        {data && <Checks response={data} />}
      </form>
    </Dialog>
  );
}

function Checks({ response: { allowed, checks } }: { readonly response: ExplainExchangeResponse }) {
  const { t } = useTexts();
  return (
    <div role="status" className="stack">
      <p>
        <Verdict isGood={allowed}>{t(allowed ? "try.allowed" : "try.denied")}</Verdict>
      </p>
      <table className={tableStyles.cards}>
        <thead>
          <tr>
            <th scope="col">{t("try.check")}</th>
            <th scope="col">{t("try.outcome")}</th>
            <th scope="col">{t("try.presented")}</th>
            <th scope="col">{t("try.expected")}</th>
          </tr>
        </thead>
        <tbody>
          {checks.map(({ name, outcome, detail, presented, expected }, index) => {
            const { text, ...look } = outcomeOf(outcome);
            return (
              <tr key={index}>
                <td className="nowrap">
                  <code>{name}</code>
                </td>
                <td data-label={t("try.outcome")}>
                  <Pill {...look}>{t(text)}</Pill>
                </td>
                {expected === "" ? (
                  <td colSpan={2}>
                    <bdi>{detail}</bdi>
                  </td>
                ) : (
                  <>
                    <td data-label={t("try.presented")}>
                      {presented === "" ? <span className="muted">–</span> : <Value text={presented} />}
                    </td>
                    <td data-label={t("try.expected")}>
                      <Value text={expected} />
                    </td>
                  </>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Value({ text }: { readonly text: string }) {
  return (
    <code>
      <bdi>{text}</bdi>
    </code>
  );
}
