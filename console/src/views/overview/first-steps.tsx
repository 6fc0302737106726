// What an empty organization needs first.
import { Link } from "@tanstack/react-router";
import { GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import type { ContentCount } from "../../../../gen/gatehouse/iam/v1/group_tree_pb.ts";
import { may, useMe } from "../../api/access.ts";
import type { Kind } from "../../shell/counts.ts";
import { Verdict } from "../../shell/look.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useOverviewAddress } from "./address.ts";
import styles from "./overview.module.css";

/** Three steps with a button each, until all are done. Nothing for callers who may do none of them. */
export function FirstSteps({ counts }: { readonly counts: readonly ContentCount[] }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useOverviewAddress();
  const countOf = (kind: Kind) => counts.find((one) => one.kind === kind)?.totalCount;
  const [groups, identities, bindings] = [countOf("groups"), countOf("identities"), countOf("role_bindings")];
  if (groups === undefined || identities === undefined || bindings === undefined) return null;
  const steps = [
    {
      name: "group" as const,
      isDone: groups > 0n,
      method: GroupsService.method.createGroup,
      link: { to: "/o/$org/groups/$", params: { org, _splat: org }, search: { dialog: "new" } },
    },
    {
      name: "identity" as const,
      isDone: identities > 0n,
      method: IdentitiesService.method.createIdentity,
      link: { to: "/o/$org/workloads/$", params: { org, _splat: "" }, search: { dialog: "new" } },
    },
    {
      // Each organization has the role binding of its first owner.
      name: "binding" as const,
      isDone: bindings > 1n,
      method: RoleBindingsService.method.createRoleBinding,
      link: { to: "/o/$org/access", params: { org }, search: { dialog: "grant" } },
    },
  ] as const;
  const open = steps.filter(({ isDone }) => !isDone);
  if (!open.some(({ method }) => may(me, method, org))) return null;
  return (
    <section className="card stack" aria-labelledby="first-steps">
      <h2 id="first-steps">{t("overview.steps")}</h2>
      <ol className={`list ${styles.findings}`}>
        {steps.map(({ name, isDone, method, link }) => (
          <li key={name}>
            <div className="lines">
              <strong>
                {isDone ? <Verdict isGood>{t(`overview.step.${name}`)}</Verdict> : t(`overview.step.${name}`)}
              </strong>
              <span className="muted">{t(isDone ? "overview.step.done" : `overview.step.${name}.text`)}</span>
            </div>
            {!isDone && may(me, method, org) && (
              <div className="row actions">
                <Link className={open[0]?.name === name ? `${styles.action} ${styles.first}` : styles.action} {...link}>
                  {t(`overview.step.${name}.button`)}
                </Link>
              </div>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
