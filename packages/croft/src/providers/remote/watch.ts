import type { WatchFiles } from '../../core/content/changes/file-access.ts';
import { createByteLineSplitter } from '../../lib/text/lines/byte-line-splitter.ts';
import { FileChanges, maxLineBytes, WatchStarted, watchWorkspace } from '../../link/methods/workspace.ts';
import { parseAnswer, type RpcClient } from './rpc/rpc-client.ts';
import { invalidAnswer } from './rpc/runner-errors.ts';
import { waitForFirstMessage } from './rpc/wait-for-first-message.ts';

/** Long, because the runner first has to read a large tree. */
const watchWithinMs = 300_000;

export function createRemoteWatch(rpc: RpcClient, handle: string): WatchFiles {
  return async (onChange, signal) => {
    const asked = rpc.begin(watchWorkspace, { place: handle }, { signal });
    const stream = asked.readable(0);
    await waitForFirstMessage(asked, WatchStarted, { patienceMs: watchWithinMs });
    stream.on(
      'data',
      createByteLineSplitter(
        maxLineBytes,
        (line) => {
          try {
            onChange(parseAnswer(FileChanges, JSON.parse(line.toString()), watchWorkspace.name));
          } catch (thrown) {
            asked.cancel(thrown);
          }
        },
        () => asked.cancel(invalidAnswer(watchWorkspace.name, 'a line without an end')),
      ),
    );
  };
}
