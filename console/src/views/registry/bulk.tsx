// Actions on several tags.
import { type Tag, TagsService } from "../../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import type { BulkProps } from "../../shell/bulk.ts";
import { BulkDialog } from "../../shell/bulk-dialog.tsx";
import { useCall } from "../../shell/use-call.ts";
import { useTexts } from "../../texts/texts.ts";

/** The dialog that deletes tags. */
export function DeleteTags(props: BulkProps<Tag>) {
  const { t } = useTexts();
  const call = useCall(TagsService.method.deleteTag);
  return (
    <BulkDialog
      {...props}
      isDeletion
      title={(count) => t("bulk.tags.title", { count })}
      text={t("bulk.tags.text")}
      button={t("bulk.tags.button")}
      act={({ uid }) => call({ uid })}
    />
  );
}
