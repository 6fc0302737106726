// The list of workloads, or the page of one of them.
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Loading } from "../../shell/parts.tsx";
import { useWorkloadsAddress } from "./address.ts";
import { Workloads } from "./workloads.tsx";

const WorkloadPage = lazyPart(async () => (await import("./workload-page.tsx")).WorkloadPage, <Loading />);

/** Shows what the address names. */
export function WorkloadsView() {
  const { selected } = useWorkloadsAddress();
  return selected === "" ? <Workloads /> : <WorkloadPage key={selected} uid={selected} />;
}
