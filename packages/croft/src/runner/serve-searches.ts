import { ProgramOrder, startSearch } from '../link/methods/sandbox.ts';
import { type LinkHandlers, listen, type ServedWorkspaces, serveMethod } from './serve-helpers.ts';
import { sendOutput } from './serve-programs.ts';

/** Serves searches. Each is one call; the runner decides which search box it runs in. */
export function serveSearches(workspaces: ServedWorkspaces): LinkHandlers {
  return serveMethod(startSearch, ({ place: handle, argv, withTimes }, call) =>
    workspaces.get(handle).withSearchBox(async (box) => {
      const running = box.start({ argv, signal: call.signal, ...(withTimes && { withTimes }) });
      listen(call, ProgramOrder, ({ type }) => type === 'kill' && running.kill());
      return { end: await sendOutput(running, call) };
    }),
  );
}
