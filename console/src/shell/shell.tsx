// The frame of all views: top bar, navigation, place of the view.
import { ActionIcon } from "@mantine/core";
import { Link, Navigate, Outlet, useRouterState } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";
import { useMe } from "../api/access.ts";
import { useLive } from "../api/live.ts";
import { isTemporary } from "../api/transport.ts";
import { useTexts } from "../texts/texts.ts";
import { Connection, GoneBanner } from "./connection.tsx";
import { Icon } from "./icon.tsx";
import { lazyExtra, lazyPart } from "./lazy-part.tsx";
import { Mark } from "./mark.tsx";
import { Navigation, useCollapsed, useViewKeys } from "./navigation.tsx";
import { useOrganizationName, useOrganizations, useOrganizationUid } from "./organization.tsx";
import { lastUsed, noteUse } from "./organization-memory.ts";
import { Loading } from "./parts.tsx";
import { usePreloadedViews } from "./preload.ts";
import styles from "./shell.module.css";
import { Failure, NotFound } from "./states.tsx";
import { Toast } from "./toast.tsx";
import { UserMenu } from "./user-menu.tsx";

const OrganizationDialog = lazyPart(
  async () => (await import("./organization-dialog.tsx")).OrganizationDialog,
  <Opening />,
  "frame",
);
const Stranger = lazyPart(async () => (await import("./stranger.tsx")).Stranger, <Loading />);
const KeyList = lazyPart(async () => (await import("./key-list.tsx")).KeyList, <Opening />);
const OwnTerms = lazyExtra(async () => (await import("./requests/own-terms.tsx")).OwnTerms, "requests");
const Palette = lazyPart(async () => (await import("./palette.tsx")).Palette, <Opening />, "frame");

/** The frame. */
export function Shell() {
  const { t } = useTexts();
  const org = useCurrentOrganization();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const showHelp = useCallback(() => setHelpOpen(true), []);
  const [isPaletteOpen, setPaletteOpen] = usePalette();
  const openPalette = useCallback(() => setPaletteOpen(true), [setPaletteOpen]);
  const [isCollapsed, toggleCollapsed] = useCollapsed();
  useViewKeys(org, { onHelp: showHelp, onPalette: openPalette, onCollapse: toggleCollapsed });
  useLive(org);
  usePreloadedViews(org);
  return (
    <div className="shell" data-navigation={isCollapsed ? "collapsed" : "open"}>
      <a className="skip" href="#content">
        {t("app.skip")}
      </a>
      <header className="top">
        <ActionIcon
          className={styles.burger}
          variant="subtle"
          size="lg"
          aria-label={t("app.menu")}
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          <Icon name="three-bars" />
        </ActionIcon>
        <Link to="/" className="brand" aria-label="Gatehouse">
          <Mark /> <span>Gatehouse</span>
        </Link>
        <OrganizationSwitcher />
        <div className="grow" />
        <button type="button" className={styles.jump} onClick={openPalette}>
          <Icon name="search" />
          <span>{t("palette.label")}</span> <kbd>Ctrl K</kbd>
        </button>
        <Connection />
        <ActionIcon variant="subtle" size="lg" aria-label={t("app.help")} title={t("app.help")} onClick={showHelp}>
          <Icon name="question" />
        </ActionIcon>
        <UserMenu onHelp={showHelp} />
      </header>
      <Navigation org={org} isOpen={isMenuOpen} onChoose={() => setMenuOpen(false)} onCollapse={toggleCollapsed} />
      <main className="main" id="content" tabIndex={-1}>
        <GoneBanner />
        <OwnTerms />
        <Outlet />
      </main>
      {isPaletteOpen && <Palette org={org} onHelp={showHelp} onClose={() => setPaletteOpen(false)} />}
      {isHelpOpen && <KeyList onClose={() => setHelpOpen(false)} />}
      <Toast />
    </div>
  );
}

/** Stands for a dialog that is being loaded: single-letter keys do not act meanwhile. */
function Opening() {
  return <div role="dialog" hidden />;
}

/** Returns the organization of the address, or the one that was shown last. */
function useCurrentOrganization(): string {
  const inAddress = useOrganizationUid();
  const organizations = useOrganizations();
  useEffect(() => {
    if (inAddress !== "") noteUse(inAddress);
  }, [inAddress]);
  if (inAddress !== "") return inAddress;
  const [last] = lastUsed();
  return (organizations?.find(({ uid }) => uid === last) ?? organizations?.[0])?.uid ?? "";
}

function OrganizationSwitcher() {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const organizations = useOrganizations() ?? [];
  const org = useCurrentOrganization();
  const name = useOrganizationName(org);
  if (organizations.length <= 1) return <bdi className={styles.name}>{organizations[0]?.name}</bdi>;
  return (
    <>
      <button
        type="button"
        className={styles.switcher}
        aria-haspopup="dialog"
        aria-label={t("organizations.switch", { name })}
        onClick={() => setOpen(true)}
      >
        <bdi className={styles.name}>{name}</bdi> <Icon name="chevron-down" />
      </button>
      {isOpen && <OrganizationDialog current={org} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Ctrl K opens the palette, also from within a field, and Shift F10 for a row of a tree. */
function usePalette() {
  const state = useState(false);
  const [, setOpen] = state;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
      const isRowMenu = !isPalette && selectForMenu(event);
      if (!isPalette && !isRowMenu) return;
      event.preventDefault();
      if (!document.querySelector('[role="dialog"]')) setOpen(true);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [setOpen]);
  return state;
}

/** Shift F10 in a tree selects the row: the palette then has its actions. Rows of tables with a menu open it themselves. */
function selectForMenu({ key, shiftKey, target }: KeyboardEvent): boolean {
  if (key !== "F10" || !shiftKey || !(target instanceof HTMLElement) || target.role !== "treeitem") return false;
  target.click();
  return true;
}

/** The first page: the overview of an organization, or what a person without a role can do. */
export function Home() {
  const { error } = useMe();
  const organizations = useOrganizations();
  const org = useCurrentOrganization();
  // A link that was clicked meanwhile leads elsewhere, once its view is loaded.
  const isLeaving = useRouterState({ select: ({ location }) => location.pathname !== "/" });
  if (error && !organizations && !isTemporary(error)) return <Failure error={error} isPage />;
  if (!organizations || isLeaving) return <Loading />;
  return org === "" ? <Stranger /> : <Navigate to="/o/$org/overview" params={{ org }} replace />;
}

/** The page of an address that leads nowhere. */
export function NoRoute() {
  const address = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <NotFound>
      <code>{address}</code>
    </NotFound>
  );
}
