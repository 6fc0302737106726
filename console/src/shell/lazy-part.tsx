// Loads views, and parts of views, when they are shown first: dialogs, and what stands behind another tab. TanStack's own function
// reloads the page when a file is missing, which ends offline in the browser's error page: here the place of the part says it.
import { type ComponentType, type FunctionComponent, type ReactNode, useCallback, useEffect, useState } from "react";
import type { Catalogue } from "../texts/catalogues.ts";
import { loadTexts } from "../texts/texts.ts";
import { firstViewShown } from "./first-view.ts";
import { MissingPart, type Place } from "./missing-part.tsx";

/** The style sheets that could not be loaded: Vite tries each of them once only. */
const failedSheets = new Set<string>();
const noteFailure = ({ target }: Event) => {
  if (target instanceof HTMLLinkElement && target.rel === "stylesheet") failedSheets.add(target.href);
};
addEventListener("error", noteFailure, true);

async function loadFailedSheets(): Promise<void> {
  const loadings = [...failedSheets].map(async (href) => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
    await new Promise((resolve, reject) => {
      link.addEventListener("load", resolve);
      link.addEventListener("error", reject);
      document.head.append(link);
    });
    failedSheets.delete(href);
  });
  await Promise.all(loadings);
}

type Load<Props> = () => Promise<ComponentType<Props>>;

/**
 * Returns a part of a view that is loaded when it is shown first. `waiting` stands in its place meanwhile; a dialog needs nothing.
 * `catalogues` has its texts, if its view does not load them.
 */
export function lazyPart<Props extends object>(
  load: Load<Props>,
  waiting: ReactNode = null,
  ...catalogues: readonly Catalogue[]
): FunctionComponent<Props> {
  return lazyComponent(load, catalogues, waiting, waiting === null ? "dialog" : "part");
}

/** Returns a part of the frame that is loaded after the first view. The frame does without it while its file is missing. */
export function lazyExtra<Props extends object>(load: Load<Props>, ...catalogues: readonly Catalogue[]) {
  return lazyComponent(() => firstViewShown.then(load), catalogues, null, undefined);
}

/** Returns a component that is loaded when it is shown first. The router loads a view before it shows it, by `preload`. */
export function lazyComponent<Props extends object>(
  load: Load<Props>,
  catalogues: readonly Catalogue[],
  waiting: ReactNode,
  /** The place of the notice that its file is missing; undefined for none. */
  place: Place | undefined,
): FunctionComponent<Props> & { readonly preload: () => Promise<void> } {
  let Loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const loadAll = async () => {
    const [component] = await Promise.all([load(), loadFailedSheets(), ...catalogues.map(loadTexts)]);
    Loaded = component;
  };
  const start = () => {
    loading ??= loadAll().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  function Part(props: Props) {
    const [isMissing, setMissing] = useState(false);
    const [, setLoaded] = useState(Loaded !== undefined);
    const begin = useCallback(
      () =>
        start().then(
          () => setLoaded(true),
          () => setMissing(true),
        ),
      [],
    );
    useEffect(() => {
      if (!Loaded) void begin();
    }, [begin]);
    if (Loaded) return <Loaded {...props} />;
    return isMissing && place !== undefined ? <MissingPart onRetry={begin} place={place} /> : waiting;
  }
  // A view that is missing says so in its place, and the frame around it stays.
  return Object.assign(Part, { preload: () => start().catch(() => {}) });
}
