import type { FileDoor } from '../../core/content/file-door.ts';
import { createLineCutter } from '../../lib/text/message-lines.ts';
import { FileChanges, maxLineBytes, Watching, watchWorkspace } from '../../link/methods/workspace.ts';
import { type Asking, parse } from './asking.ts';
import { firstTold } from './first-told.ts';
import { nonsense } from './nonsense.ts';

type Watch = NonNullable<FileDoor['watch']>;

/** The first telling of a large tree takes a while. */
const watchWithinMs = 300_000;

export function createRemoteWatch(asking: Asking, place: string): Watch {
  return async (onChange, signal) => {
    const asked = asking.begin(watchWorkspace, { place }, { signal });
    const stream = asked.readable(0);
    await firstTold(asked, Watching, { patienceMs: watchWithinMs });
    stream.on(
      'data',
      createLineCutter(
        maxLineBytes,
        (line) => {
          try {
            onChange(parse(FileChanges, JSON.parse(line.toString()), watchWorkspace.name));
          } catch (thrown) {
            asked.takeBack(thrown);
          }
        },
        () => asked.takeBack(nonsense(watchWorkspace.name, 'a line without an end')),
      ),
    );
  };
}
