// What is known of a workload besides its roles and tokens.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Link } from "@tanstack/react-router";
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { mayReadChanges, useMe } from "../../api/access.ts";
import { Ago, Copyable } from "../../shell/parts.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { LastSeen } from "./seen.tsx";

/** The tab. */
export function WorkloadDetails({ identity }: { readonly identity: Identity }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useWorkloadsAddress();
  const { uid, createTime } = identity;
  return (
    <section className="card stack" aria-label={t("profile.details")}>
      <dl className="facts">
        <dt>{t("identities.lastSeen")}</dt>
        <dd>
          <LastSeen identity={identity} />
        </dd>
        <dt>{t("identities.created")}</dt>
        <dd>{createTime && <Ago time={timestampDate(createTime)} />}</dd>
        <dt>uid</dt>
        <dd>
          <Copyable value={uid} what="uid" />
        </dd>
        {mayReadChanges(me, org) && (
          <>
            <dt>{t("nav.audit")}</dt>
            <dd>
              <Link to="/o/$org/audit" params={{ org }} search={{ q: `resource:${uid}` }}>
                {t("identities.itsChanges")}
              </Link>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
