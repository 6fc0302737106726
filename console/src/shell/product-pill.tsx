import { ProductStatus } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { type TextId, useTexts } from "../texts/texts.ts";
import { Pill, type Tone } from "./look.tsx";

const looks: Readonly<Record<number, readonly [Tone, TextId]>> = {
  [ProductStatus.AFFECTED]: ["critical", "advisories.status.affected"],
  [ProductStatus.NOT_AFFECTED]: ["good", "advisories.status.notAffected"],
  [ProductStatus.FIXED]: ["good", "advisories.status.fixed"],
};

/** The status of a product or package, with the texts of the advisories. */
export function ProductPill({ status }: { readonly status: ProductStatus }) {
  const { t } = useTexts();
  const [tone, text] = looks[status] ?? ["medium", "advisories.underReview"];
  return <Pill tone={tone}>{t(text)}</Pill>;
}
