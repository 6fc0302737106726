// Who may do what at a group: a row for each identity, a column for each area.

import { useQuery } from "@connectrpc/connect-query";
import { type KeyboardEvent, useMemo } from "react";
import { AccessService, type IdentityAccess } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { missingFor, requiredBy, useMe } from "../../api/access.ts";
import { type Area, areas, capabilitiesOf, type Level, levelOf } from "../../api/capabilities.ts";
import { identityText, useNamed } from "../../api/naming.ts";
import { parentOf } from "../../api/uids.ts";
import { BindingLine } from "../../shell/binding-line.tsx";
import { CapabilityPicker } from "../../shell/capability-picker.tsx";
import type { Column } from "../../shell/columns.ts";
import filterStyles from "../../shell/filters.module.css";
import { useKeys } from "../../shell/keyboard.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Empty, Pill } from "../../shell/look.tsx";
import { Pager, pageSize, pagesOf } from "../../shell/pager.tsx";
import { CopyAs, Suspended } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { Denied } from "../../shell/states.tsx";
import { Table } from "../../shell/table.tsx";
import { Tooltip } from "../../shell/tooltip.tsx";
import { useTexts } from "../../texts/texts.ts";
import styles from "./here.module.css";
import { useAccessAddress } from "./use-address.ts";

const { whoCan } = AccessService.method;
const WhyPanel = lazyPart(async () => (await import("./why.tsx")).WhyPanel);

/** The matrix of a group. */
export function Here() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, group, search, change, ask } = useAccessAddress();
  const { capability = "", identity = "", confined, timed } = search;
  const missing = missingFor(me, whoCan, group);
  const pages = pagesOf(search.page, undefined, (page) => void change({ page }));
  const shown = { withEnd: timed === "yes", showConfined: confined === "yes" };
  const request = { group, capability, identity, ...shown, pageSize, skip: pages.skip };
  const { data, error, refetch } = useQuery(whoCan, request, { enabled: missing.length === 0 });
  const columns = useColumns(group, data?.identities ?? []);
  useWhyKey();
  return (
    <div className="stack">
      <div className={filterStyles.filters}>
        <Picker
          kind="group"
          label={t("access.group")}
          within={org}
          // Who may not ask at the organization may not read its name here either.
          value={group === org && missing.length > 0 ? "" : group}
          onChange={(uid) => void ask({ group: uid || undefined })}
        />
        <CapabilityPicker value={capability} onChange={(name) => void ask({ capability: name || undefined })} />
        <Picker
          kind="identity"
          label={t("access.identity")}
          within={org}
          value={identity}
          onChange={(uid) => void ask({ identity: uid || undefined })}
        />
        <Flag label={t("access.withEnd")} value={timed} onChange={(value) => void ask({ timed: value })} />
        <Flag label={t("access.showConfined")} value={confined} onChange={(value) => void ask({ confined: value })} />
        <div className="grow" />
        <CopyAs method={whoCan} request={request} />
      </div>
      {missing.length > 0 && <Denied capabilities={requiredBy(whoCan)} uid={group} />}
      {missing.length === 0 && (
        <>
          <Legend />
          {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys act in the rows and cells of the table. */}
          <div className={styles.matrix} onKeyDown={moveInCells}>
            <Table
              label={t("access.matrix")}
              list={{ rows: data?.identities, error, onRetry: () => void refetch() }}
              columns={columns}
              keyOf={({ identity: who }) => who?.uid ?? ""}
              empty={<Empty>{t("access.nobody")}</Empty>}
            />
          </div>
          <Pager
            {...pagesOf(search.page, Number(data?.totalCount ?? 0), (page) => void change({ page }))}
            count={data?.identities.length ?? 0}
          />
          {data && data.unlistedGroupUids.length > 0 && (
            <p className="muted">{t("access.unlisted", { count: data.unlistedGroupUids.length })}</p>
          )}
        </>
      )}
      {search.cell !== undefined && search.area !== undefined && <WhyPanel />}
    </div>
  );
}

interface FlagProps {
  readonly label: string;
  readonly value: "yes" | undefined;
  readonly onChange: (value: "yes" | undefined) => void;
}

/** A filter that is on or off. Made without the library of the forms, which this view does not load. */
function Flag({ label, value, onChange }: FlagProps) {
  return (
    <label className="row tight">
      <input
        type="checkbox"
        checked={value === "yes"}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? "yes" : undefined)}
      />
      {label}
    </label>
  );
}

/** `w` explains the cell that has the focus, or the first one of the row that has it. */
function useWhyKey(): void {
  const keys = useMemo(
    () => ({
      w: () => {
        const focused = document.activeElement;
        const cell = focused?.matches("[data-area]") ? focused : focused?.querySelector("tr [data-area]");
        (cell as HTMLElement | null | undefined)?.click();
      },
    }),
    [],
  );
  useKeys(keys);
}

/** Arrow keys go from a row into its cells, and from cell to cell. */
function moveInCells(event: KeyboardEvent<HTMLElement>): void {
  const row = (event.target as Element).closest<HTMLTableRowElement>("tr[data-key]");
  if (!row) return;
  const cells = cellsOf(row);
  const at = cells.indexOf(event.target as HTMLElement);
  if (at < 0 && event.target !== row) return;
  const next = {
    ArrowRight: cells[at + 1],
    ArrowLeft: at > 0 ? cells[at - 1] : row,
    ...(at >= 0 && {
      ArrowUp: cellsOf(row.previousElementSibling)[at],
      ArrowDown: cellsOf(row.nextElementSibling)[at],
    }),
  }[event.key];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function cellsOf(row: Element | null): HTMLElement[] {
  return [...(row?.querySelectorAll<HTMLElement>("[data-area]") ?? [])];
}

function useColumns(group: string, rows: readonly IdentityAccess[]): Column<IdentityAccess>[] {
  const { t } = useTexts();
  const named = useNamed(rows.filter(({ confined }) => confined).map(({ identity }) => parentOf(identity?.uid ?? "")));
  return [
    { title: t("access.identity"), cell: (row) => <Who row={row} /> },
    ...areas.map(
      (area): Column<IdentityAccess> => ({
        title: t(`area.${area}`),

        cell: (row) => <Cell row={row} area={area} />,
      }),
    ),
    {
      title: t("access.from"),
      cell: ({ identity, bindings, bindingCount, confined, suspended }) => (
        <div className="lines">
          {suspended ? (
            <Suspended />
          ) : (
            confined && (
              <Pill tone="medium" icon="blocked">
                {t("access.confined", { group: named(parentOf(identity?.uid ?? "")) })}
              </Pill>
            )
          )}
          {bindings.slice(0, 3).map((binding) => (
            <BindingLine key={binding.roleBindingUid} binding={binding} at={group} />
          ))}
          {bindingCount > 3 && <span className="muted">{t("preview.more", { count: bindingCount - 3 })}</span>}
        </div>
      ),
    },
  ];
}

function Who({ row: { identity } }: { readonly row: IdentityAccess }) {
  const { t } = useTexts();
  return (
    <div className="lines">
      <ProfileLink identity={identity} />
      <span className="muted small">
        <bdi>{identity?.email || identity?.subject || t("picker.notJoined")}</bdi>
      </span>
    </div>
  );
}

const marks: Readonly<Record<Level | "confined" | "suspended", string>> = {
  all: "●",
  some: "◐",
  read: "○",
  none: "–",
  confined: "⊘",
  suspended: "⊘",
};

function Cell({ row, area }: { readonly row: IdentityAccess; readonly area: Area }) {
  const { t } = useTexts();
  const { change } = useAccessAddress();
  const held = new Set(row.capabilities);
  const level = row.suspended ? "suspended" : row.confined ? "confined" : levelOf(area, held);
  const names = capabilitiesOf(area).map(({ name }) => name);
  const own = names.filter((name) => held.has(name));
  const word = t(`level.${level}`, { held: own.length, all: names.length });
  return (
    <Tooltip text={own.length === 0 ? word : own.join(", ")}>
      <button
        type="button"
        className={styles.cell}
        data-level={level}
        data-area={area}
        // Arrow keys lead here: a table of many rows would have too many stops for the Tab key.
        tabIndex={-1}
        aria-label={t("access.cell", { who: identityText(t, row.identity), area: t(`area.${area}`), level: word })}
        onClick={() => void change({ cell: row.identity?.uid, area })}
      >
        <span aria-hidden="true">{marks[level]}</span> <span>{word}</span>
      </button>
    </Tooltip>
  );
}

function Legend() {
  const { t } = useTexts();
  return <p className="muted small">{t("access.legend")}</p>;
}
