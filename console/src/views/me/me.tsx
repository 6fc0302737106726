// Profile, roles, sessions and the settings of this browser.

import { Button, useMantineColorScheme } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useMe } from "../../api/access.ts";
import { groupText } from "../../api/naming.ts";
import { queryClient } from "../../api/transport.ts";
import { shortUid } from "../../api/uids.ts";
import { endOtherSessions, endSession, type ListedSession, listSessions, signOut } from "../../session/session.ts";
import { PendingOrganizations } from "../../shell/join-card.tsx";
import { areKeysOn, switchKeys } from "../../shell/keyboard.ts";
import { PageHead, Pill } from "../../shell/look.tsx";
import { Ago, Copyable, Loading } from "../../shell/parts.tsx";
import { SelectField } from "../../shell/select-field.tsx";
import { Failure } from "../../shell/states.tsx";
import tableStyles from "../../shell/table.module.css";
import { notify } from "../../shell/toast.tsx";
import { chooseLanguage, useTexts } from "../../texts/texts.ts";
import { Memberships } from "./memberships.tsx";
import { OwnAccess } from "./own-access.tsx";

/** The view of one's own account. */
export function Me() {
  const { t } = useTexts();
  return (
    <div className="stack">
      <PageHead title={t("me.title")}>
        <Button variant="default" onClick={() => void signOut()}>
          {t("me.signOut")}
        </Button>
      </PageHead>
      <PendingOrganizations />
      <Profile />
      <OwnAccess />
      <Memberships />
      <Sessions />
      <Settings />
    </div>
  );
}

function Profile() {
  const { t } = useTexts();
  const { data: me, error } = useMe();
  if (error && !me) return <Failure error={error} />;
  if (!me) return <Loading />;
  return (
    <section className="card stack" aria-labelledby="profile">
      <h2 id="profile">{t("me.profile")}</h2>
      <dl className="facts">
        <dt>{t("me.email")}</dt>
        <dd>{me.email}</dd>
        <dt>uid</dt>
        <dd>
          <Copyable value={me.subject} shown={shortUid(me.subject)} what="uid" />
        </dd>
      </dl>
      {me.capabilities.length > 0 && (
        <table className={tableStyles.cards}>
          <caption className="hidden">{t("me.roles")}</caption>
          <thead>
            <tr>
              <th>{t("me.role")}</th>
              <th>{t("me.group")}</th>
              <th>{t("me.held")}</th>
            </tr>
          </thead>
          <tbody>
            {me.capabilities.map(({ group, role, capabilities }) => (
              <tr key={`${group?.id} ${role?.id}`}>
                <td>
                  <bdi>{role?.name}</bdi>
                </td>
                <td>
                  <bdi>{groupText(t, group?.name)}</bdi>
                </td>
                <td>
                  <details>
                    <summary>{t("me.capabilities", { count: capabilities.length })}</summary>
                    {capabilities.join(", ")}
                  </details>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const sessionsKey = ["sessions"];

function Sessions() {
  const { t } = useTexts();
  const { data, error, refetch } = useQuery({ queryKey: sessionsKey, queryFn: listSessions });
  const done = async () => {
    notify(t("me.ended"));
    await queryClient.invalidateQueries({ queryKey: sessionsKey });
  };
  const others = useMutation({ mutationFn: endOtherSessions, onSuccess: done });
  const one = useMutation({ mutationFn: endSession, onSuccess: done });
  const failed = error ?? others.error ?? one.error;
  return (
    <section className="card stack" aria-labelledby="sessions">
      <div className="row">
        <h2 id="sessions">{t("me.sessions")}</h2>
        <div className="grow" />
        {data && data.length > 1 && (
          <Button variant="default" size="sm" color="danger" loading={others.isPending} onClick={() => others.mutate()}>
            {t("me.endOthers")}
          </Button>
        )}
      </div>
      <p className="muted">{t("me.sessions.lead")}</p>
      {failed && <Failure error={failed} onRetry={() => void refetch()} />}
      {!data && !failed && <Loading lines={2} />}
      {data && (
        <table className={tableStyles.cards}>
          <thead>
            <tr>
              <th>{t("me.client")}</th>
              <th>{t("me.begun")}</th>
              <th>{t("me.lastUse")}</th>
              <th>
                <span className="hidden">{t("me.end")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.toReversed().map((session) => (
              <SessionRow key={session.id} session={session} onEnd={() => one.mutate(session.id)} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function SessionRow({ session, onEnd }: { readonly session: ListedSession; readonly onEnd: () => void }) {
  const { t } = useTexts();
  const { isBrowser, isCurrent, client, userAgent, createTime, lastUseTime } = session;
  return (
    <tr>
      <td>
        <strong>{t(isBrowser ? "me.browser" : "me.program")}</strong>{" "}
        {isCurrent && (
          <Pill tone="good" icon="check-circle-fill">
            {t("me.current")}
          </Pill>
        )}
        <div className="muted">
          <span title={userAgent}>{programOf(userAgent ?? "")}</span> {client}
        </div>
      </td>
      <td data-label={t("me.begun")}>
        <Ago time={new Date(createTime)} />
      </td>
      <td data-label={t("me.lastUse")}>
        {lastUseTime === undefined ? t("me.never") : <Ago time={new Date(lastUseTime)} />}
      </td>
      <td>
        {!isCurrent && (
          <Button variant="default" size="sm" onClick={onEnd}>
            {t("me.end")}
          </Button>
        )}
      </td>
    </tr>
  );
}

const browsers = [
  ["Edge", /\bEdg\//],
  ["Firefox", /\bFirefox\//],
  ["Chrome", /Chrom(?:e|ium)\//],
  ["Safari", /\bSafari\//],
] as const;
const systems = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"];

/** Returns browser and system of a User-Agent; its beginning if it is that of another program. */
function programOf(userAgent: string): string {
  const [browser] = browsers.find(([, pattern]) => pattern.test(userAgent)) ?? [];
  const system = systems.find((name) => userAgent.includes(name));
  return [browser ?? userAgent.slice(0, 40), ...(system === undefined ? [] : [system])].join(", ");
}

function Settings() {
  const { t, language } = useTexts();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [hasKeys, setKeys] = useState(areKeysOn);
  return (
    <section className="card stack" aria-labelledby="settings">
      <h2 id="settings">{t("me.settings")}</h2>
      <div className="row">
        <SelectField
          label={t("me.language")}
          value={language}
          choices={[
            { value: "en", text: "English" },
            { value: "de", text: "Deutsch" },
          ]}
          onChange={(value) => chooseLanguage(value as "en").catch(() => notify(t("part.failed")))}
        />
        <SelectField
          label={t("me.scheme")}
          value={colorScheme}
          choices={(["auto", "light", "dark"] as const).map((value) => ({ value, text: t(`me.scheme.${value}`) }))}
          onChange={(value) => setColorScheme(value as "auto")}
        />
        <SelectField
          label={t("me.keys")}
          value={hasKeys ? "on" : "off"}
          choices={(["on", "off"] as const).map((value) => ({ value, text: t(`me.keys.${value}`) }))}
          onChange={(value) => {
            switchKeys(value === "on");
            setKeys(value === "on");
          }}
        />
      </div>
    </section>
  );
}
