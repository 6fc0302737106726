// Loads the code of views before they are opened.
import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { queryClient } from "../api/transport.ts";
import { loadTexts } from "../texts/texts.ts";
import { useViews } from "./navigation.tsx";

/** How long the page waits after it was busy, in milliseconds: nothing here may delay the first view. */
const quietMs = 2000;

/** How long it waits between two views, in milliseconds. */
const pauseMs = 300;

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
    const left = addresses === "" ? [] : addresses.split(" ");
    // Until then an error has the words of the server.
    void loadTexts("errors").catch(() => undefined);
    const loadNext = () => {
      const isBusy = router.state.isLoading || queryClient.isFetching() > 0;
      const to = isBusy ? undefined : left.shift();
      // A file that is missing now is loaded again when its view is opened.
      if (to !== undefined) void router.preloadRoute({ to, params: { org, _splat: "" } }).catch(() => undefined);
      if (left.length > 0) timer = setTimeout(loadNext, isBusy ? quietMs : pauseMs);
    };
    let timer = setTimeout(loadNext, quietMs);
    return () => clearTimeout(timer);
  }, [router, org, addresses]);
}
