// A secret that the server or the browser has just made, and that nobody can see again.
import { Button } from "@mantine/core";
import { useTexts } from "../texts/texts.ts";
import { Copyable } from "./parts.tsx";
import styles from "./secret.module.css";

/** Shows a secret once, to copy; with `fileName` also to download. */
export function SecretOnce({
  what,
  value,
  fileName,
}: {
  readonly what: string;
  readonly value: string;
  readonly fileName?: string;
}) {
  const { t } = useTexts();
  return (
    <div className="notice warn">
      <p>{t("secret.once")}</p>
      <div className={styles.secret}>
        <Copyable value={value} what={what} />
      </div>
      {fileName !== undefined && (
        <div>
          <Button variant="default" size="sm" onClick={() => download(fileName, value)}>
            {t("secret.download", { fileName })}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Saves a text as a file of the person. */
export function download(fileName: string, content: string, type = "text/plain"): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser reads the content when the click is handled.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
