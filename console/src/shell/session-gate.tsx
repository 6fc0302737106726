// What stands before every view: a session.
import { Button } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { forgetInvite, inviteCode } from "../session/invite.ts";
import { apiToken, SessionError, useSessionState } from "../session/session.ts";
import { useTexts } from "../texts/texts.ts";
import { Dialog, Loading } from "./parts.tsx";
import { SignInForm, SignInPage } from "./sign-in.tsx";

/** Shows the sign-in page without a session, and nothing of what was read once the session has ended. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const { t } = useTexts();
  const state = useSessionState();
  const [isUnreachable, setUnreachable] = useState(false);
  const begin = () => {
    setUnreachable(false);
    apiToken().catch((error) => setUnreachable(!(error instanceof SessionError) || error.status !== 401));
  };
  useEffect(begin, []);
  if (state === "signed-in")
    return (
      <>
        {children}
        <InviteOffer />
      </>
    );
  if (state === "signed-out") return <SignInPage />;
  if (!isUnreachable) return <Loading lines={3} />;
  return (
    <main className="center">
      <div className="notice bad" role="alert">
        <h1>{t("state.error.title")}</h1>
        <p>{t("state.offline")}</p>
        <div>
          <Button onClick={begin}>{t("action.retry")}</Button>
        </div>
      </div>
    </main>
  );
}

/** Offers the invite of the address to somebody who is signed in already. */
function InviteOffer() {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(inviteCode() !== "");
  if (!isOpen) return null;
  const close = () => {
    forgetInvite();
    setOpen(false);
  };
  return (
    <Dialog title={t("invite.title")} onClose={close}>
      <div className="stack">
        <p>{t("invite.text")}</p>
        <SignInForm button={t("invite.accept")} />
      </div>
    </Dialog>
  );
}
