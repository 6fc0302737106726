// The images behind tags, and their sizes.
import { useQuery } from "@connectrpc/connect-query";
import { type Image, ImageStoreService } from "../../../../gen/gatehouse/registry/v1/image_store_pb.ts";
import { may, useMe } from "../../api/access.ts";

const { findImages } = ImageStoreService.method;

/** Reads what is known of images, by their digest. */
export function useImages(repoUid: string, digests: readonly string[]): ReadonlyMap<string, Image> {
  const { data: me } = useMe();
  const asked = [...new Set(digests)].sort();
  const isEnabled = asked.length > 0 && may(me, findImages, repoUid);
  const { data } = useQuery(findImages, { repoUid, digests: asked }, { enabled: isEnabled });
  return new Map(data?.images.map((image) => [image.digest, image]));
}

/** Writes a size in bytes, such as "41 MB". */
export function sizeText(bytes: number, locale: string, signDisplay: "auto" | "exceptZero" = "auto"): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
  const power = Math.min(Math.floor(Math.log10(Math.max(Math.abs(bytes), 1)) / 3), units.length - 1);
  const value = bytes / 1000 ** power;
  const format = { style: "unit", unit: units[power]!, signDisplay, maximumSignificantDigits: 3 } as const;
  return new Intl.NumberFormat(locale, format).format(value);
}
