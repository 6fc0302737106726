// A client as a developer would write it: the types of the API are generated, and wrong use does not compile.
import createClient from "openapi-fetch";
import type { components, paths } from "./v2beta1.ts";

export type Group = components["schemas"]["Group"];
export type Failure = components["schemas"]["Status"];

/** Calls a server under a token; `send` is the fetch that requests go through. */
export function openClient(baseUrl: string, token: string, send: (request: Request) => Promise<Response>) {
  const api = createClient<paths>({ baseUrl, fetch: send, headers: { authorization: `Bearer ${token}` } });
  return {
    async list(uids: readonly string[]): Promise<readonly Group[]> {
      const query = { pageSize: 2, "uidp.ids": [...uids], orderBy: "name desc" };
      const { data } = await api.GET("/iam/v2beta1/groups", { params: { query } });
      // Always there, hence no question mark.
      return data?.groups.slice(0, data.skipped + 2) ?? [];
    },

    async listRoots(): Promise<readonly Group[]> {
      const { data } = await api.GET("/iam/v2beta1/groups", { params: { query: { "uidp.inRoot": true } } });
      // @ts-expect-error there is no such parameter
      api.GET.bind(api, "/iam/v2beta1/groups", { params: { query: { nonsense: true } } });
      return data?.groups ?? [];
    },

    async create(uid: string, name: string): Promise<Group | undefined> {
      const params = { path: { uid } };
      const { data } = await api.POST("/iam/v2beta1/groups/{uid}", { params, body: { name } });
      // @ts-expect-error the name is required
      api.POST.bind(api, "/iam/v2beta1/groups/{uid}", { params, body: {} });
      return data;
    },

    async get(uid: string): Promise<Group | Failure> {
      const { data, error } = await api.GET("/iam/v2beta1/groups/{uid}", { params: { path: { uid } } });
      // @ts-expect-error a text is not a number
      const _size: number | undefined = data?.description;
      return data ?? error;
    },

    async rename(uid: string, name: string): Promise<Group | undefined> {
      const params = { path: { uid }, query: { updateMask: "name" } };
      return (await api.PATCH("/iam/v2beta1/groups/{uid}", { params, body: { name } })).data;
    },

    async remove(uid: string): Promise<Failure | undefined> {
      return (await api.DELETE("/iam/v2beta1/groups/{uid}", { params: { path: { uid } } })).error;
    },
  };
}

/** Returns the reason of a failure, for programs. */
export function reasonOf({ details }: Failure): string | undefined {
  // Each detail has the members of its type.
  const info = details.find((detail) => detail["@type"] === "type.googleapis.com/google.rpc.ErrorInfo");
  return info?.reason;
}
