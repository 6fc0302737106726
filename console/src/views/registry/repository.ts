import { useQuery } from "@connectrpc/connect-query";
import { RepositoriesService } from "../../../../gen/gatehouse/registry/v1/repositories_pb.ts";

const { getRepository } = RepositoriesService.method;

/** Reads the name of a repo in the registry, and why there is none. */
export function useRepository(uid: string) {
  const { data, error } = useQuery(getRepository, { repoUid: uid }, { staleTime: 300_000 });
  const { host = "", name = "", problem } = data ?? {};
  return { host, reference: name === "" ? "" : `${host}/${name}`, problem, error };
}
