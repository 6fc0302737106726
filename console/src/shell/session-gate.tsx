// What stands before every view: a session.
import { Button } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { inviteCode } from "../session/invite.ts";
import { apiToken, SessionError, useSessionState } from "../session/session.ts";
import { useTexts } from "../texts/texts.ts";
import { lazyPart } from "./lazy-part.tsx";
import { Loading } from "./parts.tsx";
import { SignInPage } from "./sign-in.tsx";

const InviteOffer = lazyPart(async () => (await import("./invite-offer.tsx")).InviteOffer);

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
        {inviteCode() !== "" && <InviteOffer />}
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
