// The list of people, or the page of one of them.
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Loading } from "../../shell/parts.tsx";
import { usePeopleAddress } from "./address.ts";
import { People } from "./people.tsx";

const PersonPage = lazyPart(async () => (await import("./person-page.tsx")).PersonPage, <Loading />);

/** Shows what the address names. */
export function PeopleView() {
  const { selected } = usePeopleAddress();
  return selected === "" ? <People /> : <PersonPage key={selected} uid={selected} />;
}
