// How an SBOM comes to an image. With the texts of images.
import { useTexts } from "../texts/texts.ts";
import { Command } from "./command.tsx";

interface SbomCommandsProps {
  /** The name of the repository in the registry; empty if it is not known. */
  readonly repository?: string;
  /** The image by the name of its repo, as the command line takes it. */
  readonly image?: string;
  /** The tag or digest of the image, with the sign before it. */
  readonly suffix?: string;
}

/** The commands that add an SBOM: by the build, and afterwards. */
export function SbomCommands({ repository = "", image = "REPO:TAG", suffix = "" }: SbomCommandsProps) {
  const { t } = useTexts();
  const reference = repository === "" ? "IMAGE" : repository + suffix;
  const built = suffix.startsWith("@") ? repository : reference;
  return (
    <div className="stack dense">
      <p>{t("images.attach")}</p>
      <Command text={`docker buildx build --sbom=true --tag ${built || "IMAGE"} --push .`} what={t("images.build")} />
      <p>{t("images.upload")}</p>
      <Command
        text={`syft ${reference} -o cyclonedx-json | gatehouse images sboms put ${image}`}
        what={t("images.put")}
      />
    </div>
  );
}
