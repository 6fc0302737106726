// Gatehouse and its peers, asked the same question.
import type { Gatehouse } from "../gatehouse.ts";
import { createGroups, getGroupGrpc, getGroups } from "../groups-load.ts";
import type { EtcdPeer } from "../peers/etcd.ts";
import { loadGrpc, loadJson, type Peer } from "../peers/peer.ts";
import type { Scenario } from "../scenario.ts";
import type { Cores } from "../server-process.ts";

/** Requests per second of each peer against Gatehouse, with servers that use one core, or all. */
export function peerScenarios(
  cores: Cores,
  gatehouse: Gatehouse,
  peers: readonly Peer[],
  etcd: EtcdPeer | undefined,
): Scenario[] {
  const where = `${cores} core${cores === "one" ? "" : "s"}`;
  const scenario = (
    name: string,
    comparison: string,
    server: Scenario["server"],
    load: Scenario["load"],
  ): Scenario => ({
    name: `${name}, ${where}`,
    server,
    comparison: `${comparison}, ${where}`,
    load,
  });
  const rest = scenario("GetGroup REST, four levels", "REST", gatehouse, getGroups(gatehouse, { cores }));
  const grpc = scenario("GetGroup gRPC, four levels", "gRPC", gatehouse, getGroupGrpc(gatehouse, cores));
  const against = ({ name: baseline }: Scenario, peer: Scenario): Scenario => ({ ...peer, baseline, gauge: "rate" });
  const reads = [
    rest,
    ...peers.map(({ name, jsonName, server, json }) =>
      against(rest, scenario(`${name} ${jsonName}`, "REST", server, loadJson(json, cores))),
    ),
    grpc,
    ...peers.map(({ name, server, grpc: request }) =>
      against(grpc, scenario(`${name} gRPC`, "gRPC", server, loadGrpc(request, cores))),
    ),
  ];
  if (!etcd || cores === "all") return reads;
  const { server, put } = etcd;
  const create = scenario("CreateGroup REST", "durable writes", gatehouse, createGroups(gatehouse));
  return [
    ...reads,
    create,
    against(create, scenario("etcd Put JSON", "durable writes", server, loadJson(put.json, cores))),
    against(create, scenario("etcd Put gRPC", "durable writes", server, loadGrpc(put.grpc, cores))),
  ];
}
