// The API reference: a page of its own, which also works without a session (docs/decisions/0075).
import "../guides/guides.css";
import "./reference.css";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { apiToken } from "../session/session.ts";
import { loadTexts, openTexts } from "../texts/texts.ts";
import { Reference } from "./reference.tsx";

// The page is the same without a session.
apiToken().catch(() => {});
await Promise.all([openTexts(), loadTexts("reference")]);
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <Reference />
    </I18nProvider>
  </StrictMode>,
);
