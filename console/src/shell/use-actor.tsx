import type { ImageUse } from "../../../gen/gatehouse/registry/v1/image_uses_pb.ts";
import { useTexts } from "../texts/texts.ts";
import { ProfileLink } from "./profile-link.tsx";

/** The identity that used an image, or else the user of the registry, with the texts of the registry. */
export function UseActor({
  use: { identity, registryUser },
}: {
  readonly use: Pick<ImageUse, "identity" | "registryUser">;
}) {
  const { t } = useTexts();
  if (identity) return <ProfileLink identity={identity} />;
  if (registryUser === "") return <span className="muted">{t("registry.use.nobody")}</span>;
  return <bdi>{registryUser}</bdi>;
}
