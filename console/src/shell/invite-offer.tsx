import { useState } from "react";
import { forgetInvite } from "../session/invite.ts";
import { useTexts } from "../texts/texts.ts";
import { Dialog } from "./dialog.tsx";
import { SignInForm } from "./sign-in.tsx";

/** Offers the invite of the address to somebody who is signed in already. */
export function InviteOffer() {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(true);
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
