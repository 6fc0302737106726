// "Try a rule": whom another rule would let in by mistake, and which of the seen tokens, while it is typed.
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { IdentitiesService, type Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { WorkloadTrustService } from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { formErrors, noErrors } from "../../api/field-errors.ts";
import { keep, kept } from "../../shell/draft.ts";
import { ActionButton, CopyAs, Loading, useDelayed } from "../../shell/parts.tsx";
import { leaveEdit } from "../../shell/resource-dialogs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { ClaimFields } from "./claim-fields.tsx";
import { type Draft, demandFields, draftOf, identityOf, valuesOf } from "./claims-draft.ts";
import { Replay } from "./replay.tsx";
import { RuleFindings } from "./rule-findings.tsx";
import styles from "./trust.module.css";

const { getIdentity, updateIdentity } = IdentitiesService.method;
const { lintRule, replayRule } = WorkloadTrustService.method;

/** How long the form waits for another key, in milliseconds. */
const pauseMs = 400;

const fields = [
  ...demandFields.claimMatch.flatMap(({ name }) => [name, `${name}_pattern`]),
  "claims",
  "claim_patterns",
] as const;

/** The form with the present rule, and what the changed one would do. */
export function TryRule({ identity }: { readonly identity: Identity }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { uid } = identity;
  const { draft, present, isChanged, setDraft } = useTriedRule(identity);
  const { request, findings, replay, error, isWaiting } = useTrial(uid, draft, isChanged);
  const use = useRuleInDialog(uid, present);
  const errors = error ? formErrors(t, error, fields) : noErrors;
  return (
    <section className="card stack" aria-labelledby="try-rule">
      <div className="row">
        <h2 id="try-rule">{t("trust.try")}</h2>
        <div className="grow" />
        <CopyAs method={replayRule} request={request} />
      </div>
      <p className="muted">{t("trust.tryHelp")}</p>
      <div className={styles.try}>
        <div className="stack">
          <ClaimFields draft={draft} onChange={setDraft} errors={errors.fields} />
          <div className="row">
            {isChanged && (
              <Button variant="default" size="sm" onClick={() => setDraft(undefined)}>
                {t("trust.reset")}
              </Button>
            )}
            {isChanged && (
              <ActionButton
                variant="filled"
                missing={missingFor(me, updateIdentity, uid)}
                onClick={() => void use(draft)}
              >
                {t("trust.use")}
              </ActionButton>
            )}
          </div>
        </div>
        <section className="stack" aria-labelledby="rule-result" aria-live="polite">
          <h3 id="rule-result" className="row">
            {t("trust.result")}
          </h3>
          {!isChanged && <p className="muted">{t("trust.unchanged")}</p>}
          {errors.others.map((text) => (
            <p key={text} className="notice bad">
              {text}
            </p>
          ))}
          {error && errors.others.length === 0 && <p className="muted">{t("trust.invalid")}</p>}
          {isWaiting && <Loading lines={3} />}
          {replay && <Replay response={replay} />}
          {findings && <RuleFindings result={findings} />}
        </section>
      </div>
    </section>
  );
}

/** Returns the rule of the form, which stays in this tab over a reload. It is the present one until something is typed. */
function useTriedRule(identity: Identity) {
  const stored = `rule ${identity.uid}`;
  const present = useMemo(() => draftOf(identity), [identity]);
  const [typed, setTyped] = useState(() => kept(stored, present));
  const draft = typed ?? present;
  const setDraft = (next: Draft | undefined) => {
    setTyped(next);
    keep(stored, next);
  };
  return { draft, present, isChanged: textOf(draft) !== textOf(present), setDraft };
}

/** Calls the linter and then the replay once nothing was typed for a while. A call for a rule of before is cancelled. */
function useTrial(uid: string, draft: Draft, isChanged: boolean) {
  const { data: me } = useMe();
  const delayed = useDelayed(draft, pauseMs);
  const isTyping = textOf(delayed) !== textOf(draft);
  const { relationship } = identityOf("", delayed);
  const claimMatch = relationship.case === "claimMatch" ? relationship.value : {};
  const isTried = isChanged && !isTyping;
  const once = { staleTime: Number.POSITIVE_INFINITY, refetchInterval: false } as const;
  const lint = useQuery(lintRule, { claimMatch }, { ...once, enabled: isTried });
  const request = { identity: uid, claimMatch };
  const mayReplay = may(me, replayRule, uid);
  const replay = useQuery(replayRule, request, { enabled: isTried && mayReplay && lint.data !== undefined });
  const error = isTried ? (lint.error ?? replay.error) : null;
  return {
    request,
    findings: isTried ? lint.data : undefined,
    replay: isTried ? replay.data : undefined,
    error,
    isWaiting: isChanged && !error && (isTyping || !lint.data || (mayReplay && !replay.data)),
  };
}

/** Returns a function that opens the dialog in which the claims are changed with the values of a rule. */
function useRuleInDialog(uid: string, present: Draft) {
  const router = useRouter();
  const { search } = useWorkloadsAddress();
  return (draft: Draft) => {
    const to = { to: ".", search: { ...search, dialog: "claims" } } as never;
    // Not `href`: of a location that is built, it has the base path, which that of the open one has not.
    const { pathname, searchStr } = router.buildLocation(to);
    leaveEdit(`${pathname}${searchStr}`, getIdentity, uid, present, draft);
    return router.navigate(to);
  };
}

function textOf(draft: Draft): string {
  return JSON.stringify(valuesOf(draft));
}
