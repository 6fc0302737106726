// Who may pull from a repo and push to it.
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { AccessService, type IdentityAccess } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { parentOf } from "../../api/uids.ts";
import { Avatar, Pill } from "../../shell/look.tsx";
import { Loading } from "../../shell/parts.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRegistryAddress } from "./address.ts";
import styles from "./registry.module.css";

const { whoCan } = AccessService.method;

/** The capabilities that the actions of a registry require at the group of the repo (docs/registry.md); the first ones find identities. */
const needs = {
  pull: ["repo.blobs.get", "manifest.list"],
  push: ["manifest.create", "manifest.update", "tag.create", "tag.update"],
} as const;

/** How many identities are shown, and how many of each action are looked at. */
const [shownIdentities, lookedAt] = [8, 50];

/** The identities that may pull or push. Nothing for callers who may not list who holds what in the group of the repo. */
export function WhoMay({ repoUid }: { readonly repoUid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useRegistryAddress();
  const group = parentOf(repoUid);
  const isEnabled = may(me, whoCan, group);
  const request = { group, pageSize: lookedAt };
  const pull = useQuery(whoCan, { ...request, capability: needs.pull[0] }, { enabled: isEnabled });
  const push = useQuery(whoCan, { ...request, capability: needs.push[0] }, { enabled: isEnabled });
  if (!isEnabled) return null;
  const error = pull.error ?? push.error;
  const isRead = pull.data !== undefined && push.data !== undefined;
  const found = isRead ? [...push.data.identities, ...pull.data.identities] : [];
  const rows = [...new Map(found.map((one) => [one.identity?.uid ?? "", one])).values()].filter(
    (row) => actionsOf(row).length > 0,
  );
  return (
    <section className="card stack" aria-labelledby="repo-who">
      <div className="row">
        <h2 id="repo-who">{t("registry.who")}</h2>
        <div className="grow" />
        <Link
          to="/o/$org/access"
          params={{ org }}
          search={{ ...(group !== org && { group }), capability: needs.pull[0] }}
        >
          {t("registry.allWho")}
        </Link>
      </div>
      {error && <Failure error={error} />}
      {!error && !isRead && <Loading lines={3} />}
      <ul className={`list ${styles.who}`}>
        {rows.slice(0, shownIdentities).map((row) => (
          <Who key={row.identity?.uid} row={row} />
        ))}
      </ul>
      {rows.length > shownIdentities && (
        <p className="muted small">{t("registry.moreWho", { count: rows.length - shownIdentities })}</p>
      )}
    </section>
  );
}

function Who({ row }: { readonly row: IdentityAccess }) {
  const { t } = useTexts();
  const { identity } = row;
  const uid = identity?.uid ?? "";
  return (
    <li>
      <span className="who">
        <Avatar uid={uid} name={identity?.name || identity?.email || undefined} isWorkload={uid.includes("/")} />
        <ProfileLink identity={identity} />
      </span>
      <span className="row tight">
        {actionsOf(row).map((action) => (
          <Pill key={action} tone={action === "push" ? "high" : "accent"}>
            {t(`registry.may.${action}`)}
          </Pill>
        ))}
      </span>
    </li>
  );
}

function actionsOf({ capabilities, confined, suspended }: IdentityAccess): (keyof typeof needs)[] {
  if (confined || suspended) return [];
  return (["pull", "push"] as const).filter((action) => needs[action].every((one) => capabilities.includes(one)));
}
