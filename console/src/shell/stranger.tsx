// The page of a person who holds nothing.
import { Button, TextInput } from "@mantine/core";
import { type FormEvent, lazy, Suspense, useState } from "react";
import { useMe } from "../api/access.ts";
import { signIn } from "../session/session.ts";
import { loadTexts, useTexts } from "../texts/texts.ts";
import { Copyable, Heading } from "./parts.tsx";

const FindOrganization = lazy(async () => {
  const [module] = await Promise.all([import("./find-organization.tsx"), loadTexts("frame")]);
  return { default: module.FindOrganization };
});

/** Says what a person without a role can do. */
export function Stranger() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const [problem, setProblem] = useState("");
  const uid = me?.subject ?? "";
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const invite = String(new FormData(event.currentTarget).get("invite")).trim();
    // Invites are accepted while one signs in: the provider confirms the e-mail address.
    await signIn({ invite }).catch((error: Error) => setProblem(error.message));
  };
  return (
    <div className="stack">
      <Heading>{t("stranger.title")}</Heading>
      <p>{t("stranger.text", { name: me?.email || uid })}</p>
      <dl className="facts">
        <dt>{t("stranger.uid")}</dt>
        <dd>
          <Copyable value={uid} what={t("stranger.uid")} />
        </dd>
      </dl>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <TextInput name="invite" label={t("stranger.invite")} required maxLength={256} error={problem} maw={420} />
        <div>
          <Button type="submit">{t("stranger.accept")}</Button>
        </div>
      </form>
      <section className="stack" aria-label={t("stranger.find")}>
        <h2>{t("stranger.find")}</h2>
        <Suspense>
          <FindOrganization />
        </Suspense>
      </section>
    </div>
  );
}
