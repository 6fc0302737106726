// The page of a browser without a session.
import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { inviteCode } from "../session/invite.ts";
import { signIn } from "../session/session.ts";
import { useTexts } from "../texts/texts.ts";
import { Mark } from "./mark.tsx";
import { Heading } from "./parts.tsx";

/** The page on which a sign-in begins. */
export function SignInPage() {
  const { t } = useTexts();
  return (
    <main className="center">
      <div className="stack">
        <div className="brand">
          <Mark /> Gatehouse
        </div>
        <div className="card stack">
          <Heading>{t("signIn.title")}</Heading>
          <p className={inviteCode() === "" ? "muted" : "notice"}>
            {t(inviteCode() === "" ? "signIn.lead" : "invite.signIn")}
          </p>
          <SignInForm />
        </div>
      </div>
    </main>
  );
}

/** A button that begins a sign-in; with a field for the provider of an organization. */
export function SignInForm({ button }: { readonly button?: string }) {
  const { t } = useTexts();
  const [problem, setProblem] = useState("");
  const [isLeaving, setLeaving] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const provider = String(new FormData(event.currentTarget).get("provider") ?? "").trim();
    setLeaving(true);
    setProblem("");
    const invite = inviteCode();
    await signIn({
      ...(provider !== "" && { idp_id: provider }),
      ...(invite !== "" && { invite }),
    }).catch((error: Error) => {
      setLeaving(false);
      setProblem(error.message);
    });
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      {problem !== "" && (
        <p className="notice bad" role="alert">
          {problem}
        </p>
      )}
      <Button type="submit" size="md" loading={isLeaving}>
        {button ?? t("signIn.button")}
      </Button>
      <details>
        <summary>{t("signIn.more")}</summary>
        <TextInput
          name="provider"
          mt="sm"
          label={t("signIn.provider")}
          description={t("signIn.provider.help")}
          autoComplete="organization"
          maxLength={512}
        />
      </details>
    </form>
  );
}
