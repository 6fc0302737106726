// The providers of the components that read from the server: theme, transport and cache.
import { TransportProvider } from "@connectrpc/connect-query";
import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { queryClient, transport } from "../api/transport.ts";
import { theme } from "./theme.ts";

/** Provides them to its content. */
export function Providers({ children }: { readonly children: ReactNode }) {
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={localStorageColorSchemeManager({ key: "gatehouse-scheme" })}
      withCssVariables={false}
      withGlobalClasses={false}
      withStaticClasses={false}
    >
      <TransportProvider transport={transport}>
        <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
      </TransportProvider>
    </MantineProvider>
  );
}
