// All organizations of the caller, to choose one: those that are pinned, those used last, then all by name.
import { create } from "@bufbuild/protobuf";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Button, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useState } from "react";
import { UIDPFilterSchema } from "../../../gen/chainguard/platform/common/uidp_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { may, useMe } from "../api/access.ts";
import { useNames } from "../api/resources.ts";
import { isUid, parentOf } from "../api/uids.ts";
import { useTexts } from "../texts/texts.ts";
import { Dialog } from "./dialog.tsx";
import { Pill } from "./look.tsx";
import { namesakeMark, type Organization, useOrganization, useOrganizations } from "./organization.tsx";
import styles from "./organization-dialog.module.css";
import { isPinned, lastUsed, pinned, switchPin } from "./organization-memory.ts";
import { Failure } from "./states.tsx";

/** How many rows are shown at once. The search finds the others. */
const shownRows = 100;

/** How many organizations are read for a search by a part of a name. Beyond them, a pasted uid finds the rest. */
const searchedRows = 5000;

/** The dialog. */
export function OrganizationDialog({ current, onClose }: { readonly current: string; readonly onClose: () => void }) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const wanted = typed.trim().toLowerCase();
  const isPasted = isUid(wanted) && parentOf(wanted) === "";
  const pasted = useOrganization(isPasted ? wanted : "");
  const { all, total, isReading: isReadingAll, error } = useAll(wanted !== "" && !isPasted);
  const isReading = isReadingAll || pasted === undefined;
  const [, setPins] = useState(pinned);
  const known = useKnown(all);
  const found = isPasted ? (pasted ? [pasted] : []) : all.filter(({ name }) => name.toLowerCase().includes(wanted));
  const favourites = known(pinned());
  const recent = known(lastUsed()).filter(({ uid }) => !isPinned(uid) && uid !== current);
  const mark = namesakeMark(all);
  const rows = (list: readonly Organization[]) =>
    list.slice(0, shownRows).map((one) => (
      <Row
        key={one.uid}
        organization={one}
        mark={mark(one)}
        isCurrent={one.uid === current}
        onChoose={onClose}
        onPin={() => {
          switchPin(one.uid);
          setPins(pinned());
        }}
      />
    ));
  return (
    <Dialog title={t("organizations.title")} onClose={onClose}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys move between the links in it. */}
      <div className="stack" onKeyDown={moveBetweenLinks}>
        <TextInput
          type="search"
          aria-label={t("organizations.search")}
          placeholder={t("organizations.search")}
          value={typed}
          maxLength={512}
          data-autofocus
          autoComplete="off"
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        {Boolean(error) && <Failure error={error} />}
        {wanted === "" ? (
          <>
            <Part title={t("organizations.pinned")}>{rows(favourites)}</Part>
            <Part title={t("organizations.recent")}>{rows(recent)}</Part>
            <Part title={t("organizations.all", { count: total })}>{rows(all)}</Part>
          </>
        ) : (
          <Part title={t("organizations.found")}>{rows(found)}</Part>
        )}
        <p className="muted small" role="status">
          {isReading && t("picker.searching")}
          {!isReading && wanted !== "" && found.length === 0 && t("list.noMatch")}
          {!isReading &&
            (wanted === "" ? total : found.length) > shownRows &&
            t("organizations.more", { count: shownRows })}
        </p>
      </div>
    </Dialog>
  );
}

/** Returns a function that finds organizations by uid, also beyond the first ones: those that are pinned or were used last. */
function useKnown(all: readonly Organization[]) {
  const names = useNames([...pinned(), ...lastUsed()]);
  const byUid = new Map([...names, ...all.map(({ uid, name }) => [uid, name] as const)]);
  return (uids: readonly string[]): readonly Organization[] =>
    uids.flatMap((uid) => {
      const name = byUid.get(uid);
      return name === undefined ? [] : [{ uid, name }];
    });
}

/** Reads the organizations page by page: the first one, and all of them for a search. */
function useAll(isSearch: boolean) {
  const { data: me } = useMe();
  const first = useOrganizations() ?? [];
  const request = { uidp: create(UIDPFilterSchema, { inRoot: true }), orderBy: "name", pageSize: 200, pageToken: "" };
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    GroupsService.method.listGroups,
    request,
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      enabled: may(me, GroupsService.method.listGroups),
      refetchInterval: false,
    },
  );
  const listed: readonly Organization[] = data?.pages.flatMap(({ groups }) => groups) ?? [];
  const isReading = isSearch && hasNextPage && listed.length < searchedRows;
  useEffect(() => {
    if (isReading && !isFetchingNextPage) void fetchNextPage();
  }, [isReading, isFetchingNextPage, fetchNextPage]);
  const known = new Set(listed.map(({ uid }) => uid));
  // Where the caller holds something in a subgroup only, no page has the organization. A later page may have the rest.
  const others = first.filter(({ uid }) => !known.has(uid) && !may(me, GroupsService.method.listGroups, uid));
  const total = Number(data?.pages[0]?.totalCount ?? listed.length) + others.length;
  return { all: [...listed, ...others], total, isReading, error };
}

function Part({ title, children }: { readonly title: string; readonly children: readonly React.ReactNode[] }) {
  if (children.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className="muted small">{title}</h3>
      <ul className={styles.list}>{children}</ul>
    </section>
  );
}

function Row({
  organization: { uid, name },
  mark,
  isCurrent,
  onChoose,
  onPin,
}: {
  readonly organization: Organization;
  readonly mark: string;
  readonly isCurrent: boolean;
  readonly onChoose: () => void;
  readonly onPin: () => void;
}) {
  const { t } = useTexts();
  return (
    <li className={styles.row}>
      <Link
        className={styles.link}
        to="/o/$org/overview"
        params={{ org: uid }}
        onClick={onChoose}
        activeProps={{}}
        {...(isCurrent && { "aria-current": "true" as const })}
      >
        <bdi>{name}</bdi> {mark !== "" && <code className="muted">{mark}</code>}
        {isCurrent && (
          <Pill tone="good" icon="check-circle-fill">
            {t("organizations.current")}
          </Pill>
        )}
      </Link>
      <Button
        variant="subtle"
        size="compact-sm"
        aria-pressed={isPinned(uid)}
        aria-label={t("organizations.pin", { name })}
        onClick={onPin}
      >
        {isPinned(uid) ? "★" : "☆"}
      </Button>
    </li>
  );
}

/** Arrow keys go from the search to the organizations, and from one to the next. */
function moveBetweenLinks(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("input, a")];
  const at = links.indexOf(event.target as HTMLElement);
  links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
  event.preventDefault();
}
