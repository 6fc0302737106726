import "./styles.ts";
import { TransportProvider } from "@connectrpc/connect-query";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient, transport } from "./api/transport.ts";
import { router } from "./router.tsx";
import { apiToken } from "./session/session.ts";
import { SessionGate } from "./shell/session-gate.tsx";
import { openTexts } from "./texts/texts.ts";
import { theme } from "./theme.ts";

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
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        colorSchemeManager={localStorageColorSchemeManager({ key: "gatehouse-scheme" })}
        withCssVariables={false}
        withGlobalClasses={false}
        withStaticClasses={false}
      >
        <TransportProvider transport={transport}>
          <QueryClientProvider client={queryClient}>
            <SessionGate>
              <RouterProvider router={router} />
            </SessionGate>
          </QueryClientProvider>
        </TransportProvider>
      </MantineProvider>
    </I18nProvider>
  </StrictMode>,
);
