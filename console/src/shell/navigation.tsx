// The views of an organization: their links and their keys.
import { Link, useNavigate } from "@tanstack/react-router";
import { type FunctionComponent, type ReactNode, useCallback, useId, useMemo, useState } from "react";
import { auditCapabilities, holds, isOperator, useMe } from "../api/access.ts";
import type { TextId } from "../texts/catalogues.ts";
import { useTexts } from "../texts/texts.ts";
import { clickShortcut, type Shortcut } from "./actions.ts";
import { Icon, type IconName } from "./icon.tsx";
import { useKeys } from "./keyboard.ts";
import { lazyExtra } from "./lazy-part.tsx";
import styles from "./navigation.module.css";

/**
 * The views in their order. `key` opens a view after `g`. A view without `needs` is for everybody; another one is hidden from
 * callers who hold none of these capabilities in the organization, since each list in it would be denied.
 */
export const views = [
  { to: "/o/$org/overview", text: "nav.overview", icon: "home", key: "o", needs: [], section: undefined },
  { to: "/o/$org/groups/$", text: "nav.groups", icon: "file-directory", key: "g", needs: [], section: "nav.access" },
  {
    to: "/o/$org/people/$",
    text: "nav.people",
    icon: "people",
    key: "p",
    needs: ["role_bindings.list"],
    section: "nav.access",
  },
  {
    to: "/o/$org/workloads/$",
    text: "nav.workloads",
    icon: "hubot",
    key: "w",
    needs: ["identity.list"],
    section: "nav.access",
  },
  { to: "/o/$org/access", text: "nav.who", icon: "shield-lock", key: "a", needs: [], section: "nav.access" },
  {
    to: "/o/$org/requests/$",
    text: "nav.requests",
    icon: "inbox",
    key: "q",
    needs: [],
    section: "nav.access",
    Count: lazyExtra(async () => (await import("./requests/waiting-count.tsx")).WaitingCount),
  },
  {
    to: "/o/$org/reviews/$",
    text: "nav.reviews",
    icon: "check",
    key: "c",
    needs: ["role_bindings.list"],
    section: "nav.access",
  },
  {
    to: "/o/$org/roles/$",
    text: "nav.roles",
    icon: "id-badge",
    key: "l",
    needs: ["roles.list"],
    section: "nav.access",
  },
  {
    to: "/o/$org/sign-in/$",
    text: "nav.signIn",
    icon: "key",
    key: "s",
    needs: ["identity_providers.list", "group_invites.list", "account_associations.list"],
    section: "nav.access",
  },
  {
    to: "/o/$org/registry/$",
    text: "nav.registry",
    icon: "package",
    key: "r",
    needs: ["repo.list"],
    section: "nav.supply",
  },
  {
    to: "/o/$org/advisories/$",
    text: "nav.advisories",
    icon: "bug",
    key: "v",
    needs: ["advisories.list"],
    section: "nav.supply",
  },
  {
    to: "/o/$org/events/$",
    text: "nav.events",
    icon: "webhook",
    key: "e",
    needs: ["subscriptions.list"],
    section: "nav.activity",
  },
  { to: "/o/$org/audit", text: "nav.audit", icon: "log", key: "u", needs: auditCapabilities, section: "nav.activity" },
] as const satisfies readonly View[];

interface View {
  readonly to: string;
  readonly text: TextId;
  readonly icon: IconName;
  readonly key: string;
  readonly needs: readonly string[];
  /** The heading above it. */
  readonly section: TextId | undefined;
  /** How much in it waits for the caller, next to its name. */
  readonly Count?: FunctionComponent<{ readonly org: string }>;
}

type Shown = View & { readonly to: (typeof views)[number]["to"] };

/** Returns the views that the caller can use in an organization. */
export function useViews(org: string) {
  const { data: me } = useMe();
  if (org === "") return [];
  return views.filter(({ needs }: View) => needs.length === 0 || needs.some((one) => holds(me, one, org)));
}

/** The links to the views. */
export function Navigation({
  org,
  isOpen,
  onChoose,
  onCollapse,
}: {
  readonly org: string;
  readonly isOpen: boolean;
  readonly onChoose: () => void;
  readonly onCollapse: () => void;
}) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const shown = useViews(org);
  const sections = [...new Set(shown.map(({ section }) => section))];
  return (
    <nav className={isOpen ? "nav open" : "nav"} aria-label={t("app.navigation")}>
      {sections.map((section) => (
        <Section key={section ?? ""} title={section && t(section)}>
          {shown
            .filter((one) => one.section === section)
            .map(({ to, text, icon, Count }: Shown) => (
              <li key={to}>
                <Link
                  to={to}
                  params={{ org, _splat: "" }}
                  activeOptions={{ includeSearch: false }}
                  title={t(text)}
                  onClick={onChoose}
                >
                  <Icon name={icon} />
                  <span>{t(text)}</span>
                  {Count && <Count org={org} />}
                </Link>
              </li>
            ))}
        </Section>
      ))}
      <div className="grow" />
      <ul className={styles.further}>
        {isOperator(me) && (
          <li>
            <Link to="/operate" activeOptions={{ includeSearch: false }} title={t("nav.operate")} onClick={onChoose}>
              <Icon name="server" />
              <span>{t("nav.operate")}</span>
            </Link>
          </li>
        )}
        <li>
          <a href="/docs/" title={t("nav.guides")}>
            <Icon name="book" />
            <span>{t("nav.guides")}</span>
          </a>
        </li>
        <li>
          <a href="/docs/api" title={t("nav.api")}>
            <Icon name="terminal" />
            <span>{t("nav.api")}</span>
          </a>
        </li>
      </ul>
      <button
        type="button"
        className={styles.collapse}
        aria-keyshortcuts="["
        title={t("app.collapse")}
        onClick={onCollapse}
      >
        <Icon name="sidebar-collapse" />
        <span className="hidden">{t("app.collapse")}</span>
      </button>
    </nav>
  );
}

function Section({ title, children }: { readonly title: string | undefined; readonly children: ReactNode }) {
  const id = useId();
  if (title === undefined) return <ul>{children}</ul>;
  return (
    <>
      <h2 id={id} className={styles.section}>
        {title}
      </h2>
      <ul aria-labelledby={id}>{children}</ul>
    </>
  );
}

/** Whether the navigation has icons only, and what changes it. Remembered in this browser. */
export function useCollapsed(): readonly [boolean, () => void] {
  const [isCollapsed, setCollapsed] = useState(() => localStorage.getItem(stored) === "collapsed");
  const toggle = useCallback(
    () =>
      setCollapsed((before) => {
        localStorage.setItem(stored, before ? "open" : "collapsed");
        return !before;
      }),
    [],
  );
  return [isCollapsed, toggle];
}

const stored = "gatehouse-navigation";

const shortcuts: readonly Shortcut[] = ["n", "e", "c", "Delete"];

/** The actions of the keys of the frame. */
interface FrameActions {
  readonly onHelp: () => void;
  readonly onPalette: () => void;
  readonly onCollapse: () => void;
}

/**
 * Opens views by `g` and their key, the list of keys by `?`, the filter or the palette by `/`, collapses the navigation by `[`, and
 * clicks actions by their key.
 */
export function useViewKeys(org: string, { onHelp, onPalette, onCollapse }: FrameActions): void {
  const navigate = useNavigate();
  const { data: me } = useMe();
  const operates = isOperator(me);
  const keys = useMemo(
    () => ({
      ...Object.fromEntries(shortcuts.map((key) => [key, () => clickShortcut(key)])),
      "?": onHelp,
      "[": onCollapse,
      "/": () => {
        const filter = document.querySelector<HTMLElement>('#content input[type="search"]');
        if (filter) filter.focus();
        else onPalette();
      },
      "g m": () => void navigate({ to: "/me" }),
      ...(operates && { "g t": () => void navigate({ to: "/operate" }) }),
      ...(org !== "" &&
        Object.fromEntries(
          views.map(({ key, to }) => [`g ${key}`, () => void navigate({ to, params: { org, _splat: "" } })]),
        )),
    }),
    [navigate, org, operates, onHelp, onPalette, onCollapse],
  );
  useKeys(keys);
}
