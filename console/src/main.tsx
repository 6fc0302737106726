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
import { SessionGate } from "./shell/session-gate.tsx";
import { openTexts } from "./texts/texts.ts";
import { theme } from "./theme.ts";

openTexts();
// In the first quiet moment, or after two seconds: Safari has no requestIdleCallback.
const whenIdle = window.requestIdleCallback ?? ((load: () => void) => setTimeout(load, 2000));
whenIdle(() => import("./font.css").catch(() => {}), { timeout: 2000 });
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
