// Loads the code of views before they are opened.
import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { queryClient } from "../api/transport.ts";
import { useViews } from "./navigation.tsx";

/** How long the page waits before it loads the code of a view, in milliseconds. */
const pauseMs = 500;

/**
 * Loads the code of the views that the caller can use, one after the other, while the page waits for nothing else. The router does the
 * same at once for a link that has the pointer or the focus.
 */
export function usePreloadedViews(org: string): void {
  const router = useRouter();
  const addresses = useViews(org)
    .map(({ to }) => to)
    .join(" ");
  useEffect(() => {
    if (addresses === "") return;
    const left = addresses.split(" ");
    const timer = setInterval(() => {
      if (router.state.isLoading || queryClient.isFetching() > 0) return;
      const to = left.shift();
      if (to === undefined) clearInterval(timer);
      // A file that is missing now is loaded again when its view is opened.
      else void router.preloadRoute({ to, params: { org, _splat: "" } }).catch(() => undefined);
    }, pauseMs);
    return () => clearInterval(timer);
  }, [router, org, addresses]);
}
