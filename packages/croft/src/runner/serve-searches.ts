import { ProgramOrder, startSearch } from '../link/methods/sandbox.ts';
import { type Handlers, listen, type Places, serving } from './serve-means.ts';
import { carryOutput } from './serve-programs.ts';

/** Each search is one call: the box it runs in is this machine's own affair. */
export function serveSearches(places: Places): Handlers {
  return serving(startSearch, ({ place, argv, withTimes }, call) =>
    places.get(place).withSearchBox(async (box) => {
      const running = box.start({ argv, signal: call.signal, ...(withTimes && { withTimes }) });
      listen(call, ProgramOrder, ({ type }) => type === 'kill' && running.kill());
      return { end: await carryOutput(running, call) };
    }),
  );
}
