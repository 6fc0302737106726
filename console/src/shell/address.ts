// The address of a view: how its search part is read, and how the view changes it.
import {
  type NavigateOptions,
  type RegisteredRouter,
  type RouteApi,
  type RouteById,
  type RouteIds,
  useNavigate,
  useParams,
  useSearch,
} from "@tanstack/react-router";

type Id = RouteIds<RegisteredRouter["routeTree"]>;
type SearchOf<I extends Id> = RouteById<RegisteredRouter["routeTree"], I>["types"]["fullSearchSchema"];

/** Parts of an address to change: undefined removes one. */
export type Changes<Search> = { readonly [Name in keyof Search]?: Search[Name] | undefined };

/**
 * Returns the organization, the selected resource and the search part of a view's address, and how to change them. `keep` says what
 * of the search part stays when the address changes, in which `isSame` tells whether the same resource stays selected.
 */
export function useAddress<I extends Id>(
  route: RouteApi<I>,
  { keep }: { readonly keep: (search: SearchOf<I>, isSame: boolean) => Changes<SearchOf<I>> },
) {
  const navigate = useNavigate();
  const { org = "", _splat: selected = "" } = useParams({ strict: false });
  const search = route.useSearch() as SearchOf<I>;
  const open = (uid: string, changes: Changes<SearchOf<I>> = {}) => {
    const next = Object.entries({ ...keep(search, uid === selected), ...changes }).filter(
      ([, value]) => value !== undefined,
    );
    const to = { to: route.id, params: { org, _splat: uid }, search: Object.fromEntries(next) };
    return navigate(to as NavigateOptions);
  };
  const change = (changes: Changes<SearchOf<I>>) => open(selected, changes);
  return { org, selected, search, open, change, close: () => change({}) };
}

/**
 * Returns the organization and a part of the search part of the address, for parts that several views show, and how to change it. The rest
 * of the address stays.
 */
export function usePartOfAddress<Search extends object>(read: (search: Record<string, unknown>) => Search) {
  const navigate = useNavigate();
  const { org = "" } = useParams({ strict: false });
  const search: Search = read(useSearch({ strict: false }));
  const change = (changes: Changes<Search>) => {
    const changed = (before: object) =>
      Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined));
    return navigate({ to: ".", search: changed } as unknown as NavigateOptions);
  };
  return { org, search, change };
}

/** Returns a parameter of an address as an object that has it, or an empty one without a text. */
export function textIn<Name extends string>(
  search: Record<string, unknown>,
  name: Name,
): { readonly [N in Name]?: string } {
  const value = search[name];
  return typeof value === "string" && value !== "" ? ({ [name]: value } as { [N in Name]: string }) : {};
}

/** Returns the same for a parameter with a fixed set of values. */
export function choiceIn<Name extends string, const Choice extends string>(
  search: Record<string, unknown>,
  name: Name,
  choices: readonly Choice[],
): { readonly [N in Name]?: Choice } {
  const found = choices.find((choice) => choice === search[name]);
  return found === undefined ? {} : ({ [name]: found } as { [N in Name]: Choice });
}

/** Returns the number of a page of a list in an address: 2 and up. The first page is not in the address. */
export function pageIn(search: Record<string, unknown>): { readonly page?: number } {
  const page = Number(search.page);
  return Number.isSafeInteger(page) && page > 1 ? { page } : {};
}

/** Returns the order of a list in an address: one of the fields, or one with " desc". */
export function orderIn(search: Record<string, unknown>, fields: readonly string[]): { readonly order?: string } {
  return choiceIn(
    search,
    "order",
    fields.flatMap((field) => [field, `${field} desc`]),
  );
}
