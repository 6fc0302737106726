// The tabs of the page of a person or workload.
import type { TextId } from "../../texts/catalogues.ts";
import { useTexts } from "../../texts/texts.ts";
import { profileAddress } from "../profile-link.tsx";
import { Tabs } from "../tabs.tsx";
import { type ProfileSearch, useProfileAddress } from "./address.ts";

/** A tab: its name in the address, which the first one has not, and its text. */
export interface ProfileTab {
  readonly tab?: NonNullable<ProfileSearch["tab"]>;
  readonly text: TextId;
}

/** The tabs. */
export function ProfileTabs({ uid, tabs }: { readonly uid: string; readonly tabs: readonly ProfileTab[] }) {
  const { t } = useTexts();
  const { org, search } = useProfileAddress();
  return (
    <Tabs
      label={t("profile.tabs")}
      tabs={tabs.map(({ tab, text }) => ({
        to: profileAddress(uid),
        params: { org, _splat: uid },
        search: tab === undefined ? {} : { tab },
        text: t(text),
        isCurrent: search.tab === tab,
      }))}
    />
  );
}
