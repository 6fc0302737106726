// Finds the organization of a person who holds nothing, and asks its owners for access.

import { Code, ConnectError } from "@connectrpc/connect";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { useState } from "react";
import { type Group, GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { useTexts } from "../texts/texts.ts";
import { Verdict } from "./look.tsx";
import { Failure } from "./states.tsx";

const { checkEligibility, lookupGroup, requestGroupAccess } = GroupsService.method;

type Step = "start" | "notEligible" | "none" | "found" | "requested";

/** The button, and what it leads to. */
export function FindOrganization() {
  const { t } = useTexts();
  const transport = useTransport();
  const [step, setStep] = useState<Step>("start");
  const [group, setGroup] = useState<Group>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const run = async (task: () => Promise<Step>) => {
    setBusy(true);
    setError(undefined);
    await task().then(setStep, setError);
    setBusy(false);
  };
  const find = async (): Promise<Step> => {
    const { eligible } = await callUnaryMethod(transport, checkEligibility, {});
    if (!eligible) return "notEligible";
    try {
      const found = await callUnaryMethod(transport, lookupGroup, {});
      setGroup(found.group);
      return "found";
    } catch (thrown) {
      if (ConnectError.from(thrown).code === Code.NotFound) return "none";
      throw thrown;
    }
  };
  const ask = async (): Promise<Step> => {
    await callUnaryMethod(transport, requestGroupAccess, { groupUid: group?.uid ?? "" });
    return "requested";
  };
  return (
    <div className="stack">
      <p className="muted">{t("find.help")}</p>
      <div role="status" className="stack">
        {step === "start" && (
          <div>
            <Button variant="default" loading={isBusy} onClick={() => void run(find)}>
              {t("find.button")}
            </Button>
          </div>
        )}
        {step === "notEligible" && <p className="notice">{t("find.notEligible")}</p>}
        {step === "none" && <p className="notice">{t("find.none")}</p>}
        {step === "found" && (
          <>
            <p>
              <bdi>{t("find.found", { name: group?.name })}</bdi>
            </p>
            <div>
              <Button loading={isBusy} onClick={() => void run(ask)}>
                {t("find.request")}
              </Button>
            </div>
          </>
        )}
        {step === "requested" && (
          <p className="notice">
            <Verdict isGood>{t("find.requested")}</Verdict>
          </p>
        )}
      </div>
      {error !== undefined && <Failure error={error} />}
    </div>
  );
}
