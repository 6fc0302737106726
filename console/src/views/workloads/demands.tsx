// The claims that the tokens of a workload must have.
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { demandsOf } from "./identity-facts.ts";

/** The claims and the values or patterns that they must match, as rows of a list of facts. */
export function Demands({ identity }: { readonly identity: Identity }) {
  return demandsOf(identity).map(([claim, value]) => (
    <div key={claim} className="contents">
      <dt>
        <code>{claim}</code>
      </dt>
      <dd>
        <code>
          <bdi>{value}</bdi>
        </code>
      </dd>
    </div>
  ));
}
