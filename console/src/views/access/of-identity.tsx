// What an identity may do, and where: the groups in which it holds something, and those above them.
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useId } from "react";
import { AccessService, type HeldRole } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { useMe } from "../../api/access.ts";
import { useNames } from "../../api/resources.ts";
import { ancestorsOf, parentOf } from "../../api/uids.ts";
import { Names } from "../../shell/access-preview.tsx";
import filterStyles from "../../shell/filters.module.css";
import { Icon } from "../../shell/icon.tsx";
import { Pill } from "../../shell/look.tsx";
import { Pager, pageSize, pagesOf } from "../../shell/pager.tsx";
import { CopyAs, Loading } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAccessAddress } from "./address.ts";
import { BindingLine } from "./binding-line.tsx";
import styles from "./of-identity.module.css";

const { whatCan } = AccessService.method;

/** The roles of an identity: of the caller without one. */
export function OfIdentity() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change, ask } = useAccessAddress();
  const identity = search.identity ?? me?.subject ?? "";
  const open = (page: number | undefined) => void change({ page });
  const request = { identity, pageSize, skip: pagesOf(search.page, undefined, open).skip };
  const { data, error, refetch } = useQuery(whatCan, request, { enabled: identity !== "" });
  const roles = data && [...data.mappedRoles, ...data.roles];
  return (
    <div className="stack">
      <div className={filterStyles.filters}>
        <Picker
          kind="identity"
          label={t("access.identity")}
          within={org}
          value={identity}
          onChange={(uid) => void ask({ identity: uid || undefined })}
        />
        <div className="grow" />
        <CopyAs method={whatCan} request={request} />
      </div>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!roles && !error && <Loading />}
      {roles?.length === 0 && <p className="notice">{t("access.noRole")}</p>}
      {roles && roles.length > 0 && <HeldTree roles={roles} />}
      <Pager {...pagesOf(search.page, Number(data?.totalCount ?? 0), open)} count={data?.roles.length ?? 0} />
    </div>
  );
}

/** A tree, pruned to the groups where something is held, with the groups above them. */
function HeldTree({ roles }: { readonly roles: readonly HeldRole[] }) {
  const { t } = useTexts();
  const held = [...new Set(roles.flatMap(({ effectiveGroupUids }) => effectiveGroupUids))];
  const shown = [...new Set(held.flatMap((uid) => [...ancestorsOf(uid), uid]))];
  const names = useNames(shown);
  const idle = roles.filter(({ effectiveGroupUids }) => effectiveGroupUids.length === 0);
  const [suspended, confined] = [true, false].map((isSuspended) =>
    idle.filter((role) => role.suspended === isSuspended),
  );
  return (
    <>
      <ul className={styles.held} aria-label={t("access.roles")}>
        {shown
          .filter((uid) => parentOf(uid) === "")
          .map((uid) => (
            <HeldGroup key={uid} uid={uid} shown={shown} names={names} roles={roles} />
          ))}
      </ul>
      <IdleRoles title={t("access.idleSuspended")} roles={suspended!} />
      <IdleRoles title={t("access.idle")} roles={confined!} />
    </>
  );
}

/** Roles without effect, and why they have none. */
function IdleRoles({ title, roles }: { readonly title: string; readonly roles: readonly HeldRole[] }) {
  const id = useId();
  if (roles.length === 0) return null;
  return (
    <section className="notice warn" aria-labelledby={id}>
      <h2 id={id} className="row">
        <Icon name="blocked" /> {title}
      </h2>
      <ul className="list dense">
        {roles.map((role) => (
          <li key={role.binding?.roleBindingUid}>{role.binding && <BindingLine binding={role.binding} at="" />}</li>
        ))}
      </ul>
    </section>
  );
}

interface HeldGroupProps {
  readonly uid: string;
  readonly shown: readonly string[];
  readonly names: ReadonlyMap<string, string>;
  readonly roles: readonly HeldRole[];
}

function HeldGroup({ uid, shown, names, roles }: HeldGroupProps) {
  const { t } = useTexts();
  const { org } = useAccessAddress();
  const own = roles.filter(({ effectiveGroupUids }) => effectiveGroupUids.includes(uid));
  const children = shown.filter((one) => parentOf(one) === uid);
  return (
    <li>
      <div className={own.length > 0 ? styles.node : `${styles.node} muted`}>
        {names.has(uid) ? (
          <Link to="/o/$org/access" params={{ org }} search={{ group: uid }}>
            <bdi>{names.get(uid)}</bdi>
          </Link>
        ) : (
          <span>{own.length > 0 ? t("names.group") : "…"}</span>
        )}
        {own.map((role) => (
          <Held key={role.binding?.roleBindingUid || role.capabilities.join()} role={role} at={uid} />
        ))}
      </div>
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <HeldGroup key={child} uid={child} shown={shown} names={names} roles={roles} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** A role, and what it gives. Its place is said if it is not the group that it stands in. */
function Held({ role, at }: { readonly role: HeldRole; readonly at: string }) {
  const { t } = useTexts();
  const { binding, capabilities, confined } = role;
  return (
    <div className="lines">
      <span className="row">
        {binding ? (
          <BindingLine binding={binding} at={binding.groupUid === at ? undefined : at} />
        ) : (
          <span>{t("access.byMapping")}</span>
        )}
        <span className="muted">{t("access.count", { count: capabilities.length })}</span>
        {confined && (
          <Pill tone="medium" icon="blocked">
            {t("access.confinedHere")}
          </Pill>
        )}
      </span>
      <span className="muted small">
        <Names names={capabilities} />
      </span>
    </div>
  );
}
