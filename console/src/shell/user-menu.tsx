// The menu of the person who is signed in: who they are, and how the console looks to them.
import { useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useMe } from "../api/access.ts";
import { signOut } from "../session/session.ts";
import { chooseLanguage, useTexts } from "../texts/texts.ts";
import { chooseDensity, density } from "./density.ts";
import { Avatar } from "./look.tsx";
import { Menu, MenuDivider, MenuItem } from "./menu.tsx";
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
    <Menu
      className={styles.menu}
      button={(props) => (
        <button
          {...props}
          type="button"
          className={styles.button}
          aria-label={t("user.menu", { name: me?.email ?? "" })}
        >
          <Avatar uid={me?.subject ?? ""} name={me && (name ?? "?")} />
        </button>
      )}
    >
      <div className={styles.person} role="presentation">
        <bdi>{me?.email}</bdi>
      </div>
      <MenuItem icon="person" onClick={() => void navigate({ to: "/me" })}>
        {t("user.access")}
      </MenuItem>
      <MenuItem icon="question" onClick={onHelp}>
        {t("app.help")}
      </MenuItem>
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
      <MenuDivider />
      <MenuItem icon="sign-out" onClick={() => void signOut()}>
        {t("user.signOut")}
      </MenuItem>
    </Menu>
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
      <div className={styles.label}>{label}</div>
      <div className={styles.values}>
        {(Object.keys(options) as Value[]).map((one) => (
          <MenuItem
            key={one}
            choice="one"
            isChecked={one === value}
            className={styles.value}
            onClick={() => onChoose(one)}
          >
            {options[one]}
          </MenuItem>
        ))}
      </div>
    </div>
  );
}
