// The page of a person who holds nothing.
import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useMe } from "../api/access.ts";
import { signIn } from "../session/session.ts";
import { useTexts } from "../texts/texts.ts";
import { PendingOrganizations } from "./join-card.tsx";
import { lazyPart } from "./lazy-part.tsx";
import { Copyable, Heading } from "./parts.tsx";

const FindOrganization = lazyPart(
  async () => (await import("./find-organization.tsx")).FindOrganization,
  null,
  "frame",
);

const RequestAccess = lazyPart(
  async () => (await import("./requests/request-access.tsx")).RequestAccess,
  null,
  "requests",
);

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
      <PendingOrganizations />
      <RequestAccess uid="" capabilities={[]} />
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
        <FindOrganization />
      </section>
    </div>
  );
}
