// Asks before a dialog is closed into which something was typed.
import { Button } from "@mantine/core";
import { createContext, type ReactNode, useContext, useState } from "react";
import { useTexts } from "../texts/texts.ts";
import { discardDrafts, isFormFilled } from "./draft.ts";

/** Closes the dialog by the function that it gets, after the question if something was typed. */
type Close = (leave: () => void) => void;

const Closing = createContext<Close>((leave) => leave());

/** Provides a dialog's way to close to the forms in it. */
export const ClosingProvider = Closing.Provider;

/** Returns how a form closes its dialog. */
export function useClosing(): Close {
  return useContext(Closing);
}

/** Returns how a dialog is closed, and the question, which stands at its beginning. */
export function useCloseQuestion(): { readonly close: Close; readonly question: ReactNode } {
  const [asked, setAsked] = useState<{ readonly leave: () => void; readonly before: Element | null }>();
  const stay = () => {
    if (asked?.before instanceof HTMLElement) asked.before.focus();
    setAsked(undefined);
  };
  const close: Close = (leave) => {
    // A second Escape answers the question with "no".
    if (asked) stay();
    else if (isFormFilled()) setAsked({ leave, before: document.activeElement });
    else leave();
  };
  const discard = () => {
    discardDrafts();
    asked?.leave();
  };
  return { close, question: asked && <Question onStay={stay} onDiscard={discard} /> };
}

function Question({ onStay, onDiscard }: { readonly onStay: () => void; readonly onDiscard: () => void }) {
  const { t } = useTexts();
  return (
    <div className="notice warn" role="alert">
      <p>{t("draft.ask")}</p>
      <div className="row">
        <Button variant="default" size="sm" autoFocus onClick={onStay}>
          {t("draft.stay")}
        </Button>
        <Button variant="default" size="sm" onClick={onDiscard}>
          {t("draft.leave")}
        </Button>
      </div>
    </div>
  );
}
