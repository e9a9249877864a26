import { now } from '../browser/clock.ts';
import { toExactTime, toRelativeTime, toShortId } from '../text/format-times-and-sizes.ts';
import { toMarkedPieces, toSpeltPieces } from '../text/mark-hidden-characters.ts';
import { CopyButton } from './copy-button.tsx';

/** Text of somebody else's: characters that a person would not see are shown as marks. */
export function Marked({ text, isSpelt = false }: { readonly text: string; readonly isSpelt?: boolean }) {
  const pieces = isSpelt ? toSpeltPieces(text) : toMarkedPieces(text);
  return (
    <>
      {pieces.map(({ text: piece, meaning }, index) =>
        meaning === undefined ? (
          piece
        ) : (
          <span class="unseen" title={meaning} key={index}>
            {piece}
          </span>
        ),
      )}
    </>
  );
}

/** How long ago, with the exact time on hover. */
export function Ago({ at }: { readonly at: string | number }) {
  return (
    <time class="ago" dateTime={new Date(at).toISOString()} title={toExactTime(at)}>
      {toRelativeTime(at, now.value)}
    </time>
  );
}

export function Id({ id }: { readonly id: string }) {
  return (
    <span class="id">
      <code title={id}>{toShortId(id)}</code>
      <CopyButton text={id} label={`Copy ${id}`} />
    </span>
  );
}
