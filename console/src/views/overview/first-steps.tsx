// How an organization begins: what it has set up, and what comes next.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { CloseButton } from "@mantine/core";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useState } from "react";
import { SubscriptionsService } from "../../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { GroupInvitesService } from "../../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { IdentityProvidersService } from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { TagsService } from "../../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { AccessService } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import type { ContentCount } from "../../../../gen/gatehouse/iam/v1/group_tree_pb.ts";
import { may, useMe } from "../../api/access.ts";
import type { Kind } from "../../shell/counts.ts";
import { Icon, type IconName } from "../../shell/icon.tsx";
import { areStepsClosed, closeSteps } from "../../shell/organization-memory.ts";
import { useTexts } from "../../texts/texts.ts";
import { useOverviewAddress } from "./address.ts";
import styles from "./first-steps.module.css";

const { listPeople } = AccessService.method;

/** The steps, each with what shows that it is done, what a caller must be allowed to do for it, and where. */
const steps = [
  {
    name: "group",
    icon: "file-directory",
    fact: "groups",
    method: GroupsService.method.createGroup,
    link: { to: "/o/$org/groups/$", search: { dialog: "new" } },
  },
  {
    name: "ci",
    icon: "hubot",
    fact: "identities",
    method: IdentitiesService.method.createIdentity,
    link: { to: "/o/$org/workloads/$", search: { dialog: "new" } },
  },
  {
    name: "person",
    icon: "person-add",
    fact: "group_invites",
    method: GroupInvitesService.method.createGroupInvite,
    link: { to: "/o/$org/sign-in/$", search: { tab: "invites", dialog: "new" } },
  },
  {
    name: "provider",
    icon: "key",
    fact: "identity_providers",
    method: IdentityProvidersService.method.createIdentityProvider,
    link: { to: "/o/$org/sign-in/$", search: { dialog: "new" } },
  },
  {
    name: "image",
    icon: "package",
    fact: "tags",
    method: TagsService.method.createTag,
    link: { to: "/o/$org/registry/$", search: {} },
  },
  {
    name: "events",
    icon: "webhook",
    fact: "subscriptions",
    method: SubscriptionsService.method.createSubscription,
    link: { to: "/o/$org/events/$", search: { dialog: "new" } },
  },
] as const satisfies readonly Step[];

interface Step {
  readonly name: string;
  readonly icon: IconName;
  /** The kind of which there is one when the step is done. */
  readonly fact: Kind;
  readonly method: DescMethodUnary;
  readonly link: Pick<LinkProps, "to"> & { readonly search: Readonly<Record<string, string>> };
}

/** Six steps, until the caller closes them in this browser. Nothing for callers who may do none of them. */
export function FirstSteps({ counts }: { readonly counts: readonly ContentCount[] }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useOverviewAddress();
  const [isClosed, setClosed] = useState(() => areStepsClosed(org));
  const hasPeople = useHasPeople(counts);
  const close = () => {
    closeSteps(org);
    setClosed(true);
  };
  if (isClosed || counts.length === 0 || !steps.some(({ method }) => may(me, method, org))) return null;
  const done = steps.filter(({ name, fact }) => countOf(counts, fact) > 0n || (name === "person" && hasPeople));
  const next = steps.find((step) => !done.includes(step) && may(me, step.method, org));
  return (
    <section className="card stack" aria-labelledby="first-steps">
      <div className="row">
        <h2 id="first-steps">{t("overview.steps")}</h2>
        <span className="muted small">{t("overview.steps.done", { done: done.length, all: steps.length })}</span>
        <div className="grow" />
        <CloseButton aria-label={t("overview.steps.close")} title={t("overview.steps.close")} onClick={close} />
      </div>
      {done.length < steps.length && (
        <ol className={styles.steps}>
          {steps.map((step) => (
            <StepItem key={step.name} step={step} isDone={done.includes(step)} isNext={step === next} />
          ))}
        </ol>
      )}
    </section>
  );
}

function StepItem({
  step: { name, icon, method, link },
  isDone,
  isNext,
}: {
  readonly step: (typeof steps)[number];
  readonly isDone: boolean;
  readonly isNext: boolean;
}) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useOverviewAddress();
  return (
    <li className={styles.step} data-done={isDone} data-next={isNext}>
      <Icon name={isDone ? "check-circle-fill" : icon} />
      <div className="lines">
        <strong>{t(`overview.step.${name}`)}</strong>
        <span className={isDone ? "hidden" : "muted small"}>
          {t(isDone ? "overview.step.done" : `overview.step.${name}.text`)}
        </span>
        {!isDone && may(me, method, org) && (
          <Link {...({ ...link, params: { org, _splat: name === "group" ? org : "" } } as unknown as LinkProps)}>
            {t(`overview.step.${name}.button`)}
          </Link>
        )}
      </div>
    </li>
  );
}

function countOf(counts: readonly ContentCount[], fact: Kind): bigint {
  return counts.find(({ kind }) => kind === fact)?.totalCount ?? 0n;
}

/** Whether somebody else holds a role here: an invite is gone once it was accepted. */
function useHasPeople(counts: readonly ContentCount[]): boolean {
  const { data: me } = useMe();
  const { org } = useOverviewAddress();
  // Each organization has the role binding of its first owner.
  const isAsked = countOf(counts, "role_bindings") > 1n && countOf(counts, "group_invites") === 0n;
  const enabled = isAsked && may(me, listPeople, org);
  const { data } = useQuery(listPeople, { group: org, pageSize: 1 }, { enabled });
  return Number(data?.totalCount ?? 0) > 1;
}
