// How far the packages of an image are known.
import { Link } from "@tanstack/react-router";
import {
  CheckState,
  type ListImageFindingsResponse,
  type NotChecked,
  NotCheckedReason,
} from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { useRepository } from "../../shell/pull.ts";
import { SbomCommands } from "../../shell/sbom-commands.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRegistryAddress } from "./address.ts";
import type { ShownImage } from "./shown-image.ts";

/** In the place of the findings and packages of an image without an SBOM: first, how one comes there. */
export function NoSbom({ image: { repo, digest, tag } }: { readonly image: ShownImage }) {
  const { t } = useTexts();
  const { reference } = useRepository(repo.uid);
  const suffix = tag === undefined ? `@${digest}` : `:${tag}`;
  return (
    <section className="card stack" aria-labelledby="no-sbom">
      <h2 id="no-sbom">{t("images.noSbom")}</h2>
      <SbomCommands repository={reference} image={`${repo.name}${suffix}`} suffix={suffix} />
      <p className="muted">{t("images.noSbomHelp")}</p>
    </section>
  );
}

type Known = Pick<ListImageFindingsResponse, "state" | "packageCount" | "notChecked" | "reasons">;

/** How many packages are known, what is not checked, and why. */
export function Completeness({ known: { state, packageCount, notChecked, reasons }, image }: CompletenessProps) {
  const { t } = useTexts();
  const { org } = useRegistryAddress();
  return (
    <>
      {state === CheckState.PENDING && <p className="notice">{t("images.pendingHelp")}</p>}
      {state === CheckState.PARTIAL && (
        <p className="notice warn">
          <span>
            {t("images.partialHelp")}{" "}
            <Link
              to="/o/$org/registry/$"
              params={{ org, _splat: image.repo.uid }}
              search={{ image: image.digest, part: "sboms" }}
            >
              {t("images.seeSboms")}
            </Link>
          </span>
        </p>
      )}
      <p className="muted">
        {t("images.packageCount", { count: packageCount })}
        {notChecked > 0 && ` · ${t("images.notCheckedCount", { count: notChecked })}`}
      </p>
      <NotCheckedList reasons={reasons} />
    </>
  );
}

interface CompletenessProps {
  readonly known: Known;
  readonly image: ShownImage;
}

const texts = {
  [NotCheckedReason.NO_PURL]: "images.reason.none",
  [NotCheckedReason.INVALID_PURL]: "images.reason.invalid",
  [NotCheckedReason.LONG_PURL]: "images.reason.long",
} as const;

function NotCheckedList({ reasons }: { readonly reasons: readonly NotChecked[] }) {
  const { t } = useTexts();
  const known = reasons.flatMap(({ reason, ...rest }) => (reason in texts ? [{ ...rest, text: textOf(reason) }] : []));
  if (known.length === 0) return null;
  return (
    <ul className="muted small">
      {known.map(({ text, count, example }) => (
        <li key={text}>
          <bdi>{t(text, { count, example })}</bdi>
        </li>
      ))}
    </ul>
  );
}

const textOf = (reason: NotCheckedReason) => texts[reason as keyof typeof texts];
