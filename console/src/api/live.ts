// Keeps views up to date: one tab polls the change log for all tabs of the browser, and each tab reads again what has changed.
import { callUnaryMethod } from "@connectrpc/connect-query";
import { useEffect, useSyncExternalStore } from "react";
import { ChangesService } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { mayReadChanges, useMe } from "./access.ts";
import { servicesWith } from "./live-services.ts";
import { queryClient, transport } from "./transport.ts";

const { listChanges } = ChangesService.method;

/** How long the polling tab waits between two looks, in milliseconds. */
const pauseMs = 3000;

/** The messages of the tabs to each other. */
interface News {
  readonly organization: string;
  readonly kinds: readonly string[];
  /** Everything that was read before this time is read again; 0 for nothing. */
  readonly since: number;
  readonly time: number;
}

const channel = new BroadcastChannel("gatehouse-live");
let lastTime = 0;
const listeners = new Set<() => void>();

function hear({ kinds, since, time }: News): void {
  lastTime = time;
  for (const listener of listeners) listener();
  const names = servicesWith(kinds);
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [, about], state: { dataUpdatedAt } }) => {
      const { serviceName = "" } = (about ?? {}) as { readonly serviceName?: string };
      return (dataUpdatedAt > 0 && dataUpdatedAt < since) || names.some((name) => serviceName.includes(name));
    },
  });
}

/** Returns when the page was last known to be up to date, in milliseconds since the epoch; 0 before that. */
export function useLiveTime(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => lastTime,
  );
}

/** Follows the changes of an organization while the page is visible, if the caller may read them. */
export function useLive(organization: string): void {
  const { data: me } = useMe();
  const mayFollow = organization !== "" && mayReadChanges(me, organization);
  useEffect(() => {
    if (!mayFollow) return;
    const stop = new AbortController();
    channel.onmessage = ({ data }: MessageEvent<News>) => {
      if (data.organization === organization) hear(data);
    };
    const begin = () => follow(organization, stop.signal);
    // One tab of an organization has the lock; another gets it when that one is closed. Pages without https have no locks.
    const locks = navigator.locks as LockManager | undefined;
    if (locks) locks.request(`gatehouse-live ${organization}`, { signal: stop.signal }, begin).catch(() => {});
    else void begin();
    return () => {
      stop.abort();
      channel.onmessage = null;
    };
  }, [organization, mayFollow]);
}

async function follow(organization: string, signal: AbortSignal): Promise<void> {
  let after = "";
  while (!signal.aborted) {
    try {
      if (document.visibilityState === "visible") after = await look(organization, after, signal);
    } catch {
      // The log no longer has what came after, or the server does not respond: begin anew.
      after = "";
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Tells all tabs what has changed since the last look, and returns where the next one begins. */
async function look(organization: string, after: string, signal: AbortSignal): Promise<string> {
  const isFirst = after === "";
  const request = { parent: organization, after, pageSize: isFirst ? 1 : 200 };
  const { changes, resumeAfter } = await callUnaryMethod(transport, listChanges, request, { signal });
  const kinds = isFirst ? [] : [...new Set(changes.map(({ kind }) => kind))];
  // The first look does not say what has changed since the page was read.
  const since = isFirst ? Date.now() : 0;
  const news: News = { organization, kinds, since, time: Date.now() };
  channel.postMessage(news);
  hear(news);
  return resumeAfter;
}
