// How many access requests of an organization wait for the caller, in the navigation.
import { useTexts } from "../../texts/texts.ts";
import { useMyRequests, waitingIn, within } from "./my-requests.ts";
import styles from "./waiting-count.module.css";

/** The number; nothing without one. */
export function WaitingCount({ org }: { readonly org: string }) {
  const { t } = useTexts();
  const { data } = useMyRequests();
  const count = within(org, waitingIn(data))?.length ?? 0;
  if (count === 0) return null;
  return (
    <span className={styles.count}>
      <span aria-hidden="true">{count}</span>
      <span className="hidden">{t("nav.waiting", { count })}</span>
    </span>
  );
}
