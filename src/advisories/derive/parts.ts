// The advisories that a record speaks of: one for each of its products.
import type {
  AdvisoryRecord,
  Product,
  ProductStatement,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { advisoryIdOf, identityOf } from "../product.ts";

/** One record's statements about one product. */
export interface RecordPart {
  /** The public id of the advisory. */
  readonly advisoryId: string;
  /** The identity of the product; empty when the record names none. */
  readonly identity: string;
  readonly product: Product | undefined;
  /** In the order of the record. */
  readonly statements: readonly ProductStatement[];
}

/** Returns the parts of a record, in the order of its statements. A record without statements has one part without a product. */
export function partsOf(record: AdvisoryRecord): RecordPart[] {
  const grouped = Map.groupBy(record.statements, ({ product }) => (product ? identityOf(product) : ""));
  if (grouped.size === 0) grouped.set("", []);
  return [...grouped].map(([identity, statements], i) => {
    const product = statements[0]?.product;
    return { advisoryId: publicIdIn(record, product, i === 0), identity, product, statements };
  });
}

/** The id of the source, where it has one, belongs to the product that the record names first. */
function publicIdIn(
  { advisoryId, vulnerability }: AdvisoryRecord,
  product: Product | undefined,
  isFirst: boolean,
): string {
  if (isFirst && advisoryId !== "") return advisoryId;
  return advisoryIdOf(product ?? noProduct, advisoryId || vulnerability);
}

const noProduct: Product = {
  $typeName: "gatehouse.vulnerabilities.v1.Product",
  purl: "",
  cpe: "",
  ecosystem: "",
  name: "",
};

/** Returns the key that the parts of several records share if they are about the same advisory and product. */
export function partKey({ advisoryId, identity }: Pick<RecordPart, "advisoryId" | "identity">): string {
  return `${advisoryId}\n${identity}`;
}
