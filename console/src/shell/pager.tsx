// The pages of a list.
import { Button } from "@mantine/core";
import { useTexts } from "../texts/texts.ts";

/** How many rows a page has. */
export const pageSize = 50;

/** Where a page is, and the ways to the pages next to it. */
export interface PagerProps {
  /** The number of the first row, from 1. */
  readonly from: number;
  readonly count: number;
  readonly total: number;
  readonly onPrevious?: (() => void) | undefined;
  readonly onNext?: (() => void) | undefined;
}

/** Where a page of a list is, and the ways to the pages next to it. Nothing for an empty list. */
export function Pager({ from, count, total, onPrevious, onNext }: PagerProps) {
  const { t } = useTexts();
  if (count === 0) return null;
  return (
    <div className="row">
      <span className="muted" role="status">
        {t("list.range", { from, to: from + count - 1, total })}
      </span>
      {(onPrevious || onNext) && (
        <>
          <Button variant="default" size="compact-sm" disabled={!onPrevious} onClick={onPrevious}>
            {t("list.previous")}
          </Button>
          <Button variant="default" size="compact-sm" disabled={!onNext} onClick={onNext}>
            {t("list.next")}
          </Button>
        </>
      )}
    </div>
  );
}

/** Returns the pages of a list that has `skip`, for a number of the page in the address (`pageIn`). */
export function pagesOf(page: number | undefined, total: number | undefined, open: (page: number | undefined) => void) {
  const current = page ?? 1;
  const skip = (current - 1) * pageSize;
  return {
    skip,
    from: skip + 1,
    total: total ?? 0,
    onPrevious: current > 1 ? () => open(current === 2 ? undefined : current - 1) : undefined,
    onNext: skip + pageSize < (total ?? 0) ? () => open(current + 1) : undefined,
  };
}
