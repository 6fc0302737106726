// The views of an organization: their links and their keys.
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { auditCapabilities, holds, isOperator, useMe } from "../api/access.ts";
import type { TextId } from "../texts/catalogues.ts";
import { useTexts } from "../texts/texts.ts";
import { clickShortcut, type Shortcut } from "./actions.ts";
import { useKeys } from "./keyboard.ts";

/**
 * The views in their order. `key` opens a view after `g`. A view without `needs` is for everybody; another one is hidden from
 * callers who hold none of these capabilities in the organization, since each list in it would be denied.
 */
export const views = [
  { to: "/o/$org/overview", text: "nav.overview", key: "o", needs: [] },
  { to: "/o/$org/groups/$", text: "nav.groups", key: "g", needs: [] },
  { to: "/o/$org/access", text: "nav.access", key: "a", needs: [] },
  {
    to: "/o/$org/identities/$",
    text: "nav.identities",
    key: "i",
    needs: [
      "identity.list",
      "role_bindings.list",
      "group_invites.list",
      "identity_providers.list",
      "account_associations.list",
    ],
  },
  { to: "/o/$org/roles/$", text: "nav.roles", key: "l", needs: ["roles.list"] },
  { to: "/o/$org/registry/$", text: "nav.registry", key: "r", needs: ["repo.list"] },
  { to: "/o/$org/advisories/$", text: "nav.advisories", key: "v", needs: ["advisories.list"] },
  { to: "/o/$org/events/$", text: "nav.events", key: "e", needs: ["subscriptions.list"] },
  { to: "/o/$org/audit", text: "nav.audit", key: "u", needs: auditCapabilities },
] as const satisfies readonly View[];

interface View {
  readonly to: string;
  readonly text: TextId;
  readonly key: string;
  readonly needs: readonly string[];
}

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
}: {
  readonly org: string;
  readonly isOpen: boolean;
  readonly onChoose: () => void;
}) {
  const { t } = useTexts();
  const { data: me } = useMe();
  return (
    <nav className={isOpen ? "nav open" : "nav"} aria-label={t("app.navigation")}>
      <ul>
        {useViews(org).map(({ to, text }) => (
          <li key={to}>
            <Link to={to} params={{ org, _splat: "" }} activeOptions={{ includeSearch: false }} onClick={onChoose}>
              {t(text)}
            </Link>
          </li>
        ))}
        <li>
          <Link to="/me" onClick={onChoose}>
            {t("nav.me")}
          </Link>
        </li>
      </ul>
      <ul className="further">
        {isOperator(me) && (
          <li>
            <Link to="/operate" activeOptions={{ includeSearch: false }} onClick={onChoose}>
              {t("nav.operate")}
            </Link>
          </li>
        )}
        <li>
          <a href="/docs/">{t("nav.guides")}</a>
        </li>
        <li>
          <a href="/docs/api">{t("nav.api")}</a>
        </li>
      </ul>
    </nav>
  );
}

const shortcuts: readonly Shortcut[] = ["n", "e", "c", "Delete"];

/** Opens views by `g` and their key, the list of keys by `?`, the filter or the palette by `/`, and clicks actions by their key. */
export function useViewKeys(org: string, onHelp: () => void, onPalette: () => void): void {
  const navigate = useNavigate();
  const { data: me } = useMe();
  const operates = isOperator(me);
  const keys = useMemo(
    () => ({
      ...Object.fromEntries(shortcuts.map((key) => [key, () => clickShortcut(key)])),
      "?": onHelp,
      "/": () => {
        const filter = document.querySelector<HTMLElement>('#content input[type="search"]');
        if (filter) filter.focus();
        else onPalette();
      },
      "g m": () => void navigate({ to: "/me" }),
      ...(operates && { "g p": () => void navigate({ to: "/operate" }) }),
      ...(org !== "" &&
        Object.fromEntries(
          views.map(({ key, to }) => [`g ${key}`, () => void navigate({ to, params: { org, _splat: "" } })]),
        )),
    }),
    [navigate, org, operates, onHelp, onPalette],
  );
  useKeys(keys);
}
