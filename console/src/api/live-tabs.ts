// The tabs of a browser tell each other what has changed. One that is visible follows the change log.
import { refreshMe } from "./access.ts";
import { followChanges } from "./follow-changes.ts";
import { type Following, type News, pauseMs } from "./live-news.ts";
import { servicesWith } from "./live-services.ts";
import { queryClient } from "./transport.ts";

const channel = new BroadcastChannel("gatehouse-live");

function readAgain({ kinds, deleted, since }: News): void {
  const names = servicesWith(kinds);
  const isAboutDeleted = (input: unknown) => {
    const text = JSON.stringify(input ?? "");
    return deleted.some((uid) => text.includes(`"${uid}"`));
  };
  const read = (wasDeleted: boolean) =>
    void queryClient.invalidateQueries({
      predicate: ({ queryKey: [, about], state: { dataUpdatedAt } }) => {
        const { serviceName = "", input } = (about ?? {}) as {
          readonly serviceName?: string;
          readonly input?: unknown;
        };
        const isStale =
          (dataUpdatedAt > 0 && dataUpdatedAt < since) || names.some((name) => serviceName.includes(name));
        return isStale && isAboutDeleted(input) === wasDeleted;
      },
    });
  read(false);
  // The page that has deleted something is about to leave the view of it.
  if (deleted.length > 0) setTimeout(() => read(true), pauseMs);
}

/** Joins the tabs that follow an organization until the signal is aborted. `setTime` gets the times at which the page is up to date. */
export function join(organization: string, signal: AbortSignal, setTime: (time: number) => void): void {
  const following: Following = { organization, after: "" };
  const hear = async (news: News) => {
    setTime(news.time);
    if (news.isAccessChanged) await refreshMe();
    readAgain(news);
  };
  const tellAll = (news: News) => {
    channel.postMessage(news);
    void hear(news);
  };
  channel.onmessage = ({ data }: MessageEvent<News>) => {
    if (data.organization !== organization) return;
    following.after = data.after;
    void hear(data);
  };
  let stop = new AbortController();
  const restart = () => {
    stop.abort();
    stop = new AbortController();
    if (document.visibilityState === "visible") followInTurn(following, stop.signal, tellAll);
  };
  document.addEventListener("visibilitychange", restart, { signal });
  signal.addEventListener("abort", () => {
    stop.abort();
    channel.onmessage = null;
  });
  restart();
}

/** One visible tab of an organization has the lock; another gets it when that one is hidden or closed. Pages without https have no locks. */
function followInTurn(following: Following, signal: AbortSignal, tellAll: (news: News) => void): void {
  const locks = navigator.locks as LockManager | undefined;
  const run = () => followChanges(following, signal, tellAll);
  if (locks) locks.request(`gatehouse-live ${following.organization}`, { signal }, run).catch(() => {});
  else void run();
}
