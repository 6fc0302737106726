// The tree of the groups in which roles have an effect, with the capabilities that they give. Load the texts `access` with it.
import { Link } from "@tanstack/react-router";
import { useId } from "react";
import type { HeldRole } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { useNames } from "../api/resources.ts";
import { ancestorsOf, parentOf } from "../api/uids.ts";
import { useTexts } from "../texts/texts.ts";
import { Names } from "./access-preview.tsx";
import { useBindingAddress } from "./binding-address.ts";
import { BindingLine } from "./binding-line.tsx";
import styles from "./held-tree.module.css";
import { Icon } from "./icon.tsx";
import { Pill } from "./look.tsx";

/** A tree, pruned to the groups where something is held, with the groups above them. */
export function HeldTree({ roles }: { readonly roles: readonly HeldRole[] }) {
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
  const { org } = useBindingAddress();
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
