// The menu of the person who is signed in: who they are, and how the console looks to them.
import { Menu, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMe } from "../api/access.ts";
import { signOut } from "../session/session.ts";
import { chooseLanguage, useTexts } from "../texts/texts.ts";
import { chooseDensity, density } from "./density.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Avatar } from "./look.tsx";
import { notify } from "./toast.tsx";
import styles from "./user-menu.module.css";

/** The menu. */
export function UserMenu({ onHelp }: { readonly onHelp: () => void }) {
  const { t, language } = useTexts();
  const { data: me } = useMe();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [dense, setDense] = useState(density);
  const name = me?.email.split("@")[0] || undefined;
  return (
    <Menu withinPortal={false} withInitialFocusPlaceholder={false} position="bottom-end" width={264}>
      <Menu.Target>
        <UnstyledButton className={styles.button} aria-label={t("user.menu", { name: me?.email ?? "" })}>
          <Avatar uid={me?.subject ?? ""} name={me && (name ?? "?")} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown className={styles.menu}>
        <div className={styles.person} role="presentation">
          <bdi>{me?.email}</bdi>
        </div>
        <Item icon="person" onClick={() => void navigate({ to: "/me" })}>
          {t("user.access")}
        </Item>
        <Item icon="question" onClick={onHelp}>
          {t("app.help")}
        </Item>
        <Choice
          label={t("user.theme")}
          value={colorScheme}
          options={{ light: t("user.theme.light"), dark: t("user.theme.dark"), auto: t("user.theme.auto") }}
          onChoose={setColorScheme}
        />
        <Choice
          label={t("user.density")}
          value={dense}
          options={{ comfortable: t("user.density.comfortable"), compact: t("user.density.compact") }}
          onChoose={(chosen) => {
            chooseDensity(chosen);
            setDense(chosen);
          }}
        />
        <Choice
          label={t("user.language")}
          value={language}
          options={{ en: "English", de: "Deutsch" }}
          onChoose={(chosen) => chooseLanguage(chosen).catch(() => notify(t("part.failed")))}
        />
        <Menu.Divider />
        <Item icon="sign-out" onClick={() => void signOut()}>
          {t("user.signOut")}
        </Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Item(props: { readonly icon: IconName; readonly onClick: () => void; readonly children: ReactNode }) {
  const { icon, onClick, children } = props;
  return (
    <Menu.Item leftSection={<Icon name={icon} />} onClick={onClick}>
      {children}
    </Menu.Item>
  );
}

/** Values of which one is in force. The menu stays open: one sees what it does. */
function Choice<Value extends string>({
  label,
  value,
  options,
  onChoose,
}: {
  readonly label: string;
  readonly value: Value;
  readonly options: Readonly<Record<Value, string>>;
  readonly onChoose: (value: Value) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset may not stand in a menu.
    <div role="group" aria-label={label} className={styles.choice}>
      <Menu.Label>{label}</Menu.Label>
      <div className={styles.values}>
        {(Object.keys(options) as Value[]).map((one) => (
          <Menu.Item
            key={one}
            role="menuitemradio"
            aria-checked={one === value}
            closeMenuOnClick={false}
            className={styles.value}
            onClick={() => onChoose(one)}
          >
            {options[one]}
          </Menu.Item>
        ))}
      </div>
    </div>
  );
}
