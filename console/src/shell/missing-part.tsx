// Stands in the place of a view, or of a part of one, whose file could not be loaded.
import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { useLiveTime } from "../api/live.ts";
import { useTexts } from "../texts/texts.ts";
import styles from "./missing-part.module.css";
import { Heading } from "./parts.tsx";

/** Why a file is missing: no response at all, a server with the files of another version, or something else. */
type Cause = "offline" | "updated" | "failed";

/** The kinds of missing things. A dialog has no place in the page: the notice then lies over it. */
export type Place = "view" | "part" | "dialog";

/** Says why, and offers another attempt, or a newer page. */
export function MissingPart({ onRetry, place }: { readonly onRetry: () => Promise<void>; readonly place: Place }) {
  const { t } = useTexts();
  const [cause, setCause] = useState<Cause>();
  const [isTrying, setTrying] = useState(false);
  const time = useLiveTime();
  const begin = async () => {
    const found = await findCause();
    // The server responds, as after a restart: the file may be there by now.
    if (found === "failed") await onRetry();
    setCause(found);
  };
  const retry = async () => {
    setTrying(true);
    await onRetry();
    setCause(await findCause());
    setTrying(false);
  };
  useEffect(() => {
    void begin();
  }, []);
  // The server responds again.
  useEffect(() => {
    if (cause === "offline") void retry();
  }, [time]);
  if (cause === undefined) return null;
  return (
    <div className={place === "dialog" ? `notice warn ${styles.floating}` : "notice warn"} role="alert">
      {place === "view" && <Heading>{t("state.error.title")}</Heading>}
      <p>{t(`part.${cause}`)}</p>
      <div className="row">
        {cause !== "updated" && (
          <Button variant="default" size="sm" loading={isTrying} onClick={() => void retry()}>
            {t("action.retry")}
          </Button>
        )}
        {cause !== "offline" && (
          <Button variant="default" size="sm" onClick={() => location.reload()}>
            {t("part.reload")}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Reads the page again: that of another version has another script. */
async function findCause(): Promise<Cause> {
  try {
    const response = await fetch(location.pathname, { cache: "no-store", signal: AbortSignal.timeout(10_000) });
    if (!response.ok) return "failed";
    const script = document.querySelector('script[type="module"]')?.getAttribute("src") ?? "";
    return (await response.text()).includes(script) ? "failed" : "updated";
  } catch {
    return "offline";
  }
}
