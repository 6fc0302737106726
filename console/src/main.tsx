import "./styles.ts";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./router.tsx";
import { apiToken } from "./session/session.ts";
import { Providers } from "./shell/providers.tsx";
import { SessionGate } from "./shell/session-gate.tsx";
import { openTexts } from "./texts/texts.ts";

// The frame that the page comes with stays until there is something to show: a view, or the sign-in page.
const view = router.load().catch(() => undefined);
const session = apiToken().then(
  () => view,
  () => undefined,
);
await Promise.all([openTexts(), session]);
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <Providers>
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
      </Providers>
    </I18nProvider>
  </StrictMode>,
);
